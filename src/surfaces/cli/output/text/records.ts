import { fitCell, toCell } from './cell.ts'
import { cleanLine } from './clean.ts'
import { displayWidth } from './display-width.ts'
import type { TextLayout } from './layout.ts'
import { padEnd, truncateEnd } from './truncate.ts'

const GAP = 2
/** With less room than this beside the keys, values stand below them. */
const NARROWEST_VALUE = 12

/** Lines of one block per record, a blank line between them: the layout for records with too many fields for a table. */
export function renderRecords(
  records: readonly { readonly [key: string]: unknown }[],
  layout: TextLayout,
): string[] {
  const keyWidth = records.reduce(
    (widest, record) =>
      Object.keys(record).reduce(
        (width, key) => Math.max(width, displayWidth(cleanLine(key))),
        widest,
      ),
    0,
  )
  return records.flatMap((record, index) => [
    ...(index === 0 ? [] : ['']),
    ...renderRecord(record, keyWidth, layout),
  ])
}

function renderRecord(
  record: { readonly [key: string]: unknown },
  keyWidth: number,
  { columns = Infinity, paint }: TextLayout,
): string[] {
  const entries = Object.keys(record).map((key) => ({
    key,
    title: cleanLine(key),
    cell: toCell(record[key]),
  }))
  const room = columns - keyWidth - GAP
  return entries.flatMap(({ key, title, cell }) =>
    room >= NARROWEST_VALUE
      ? [`${paint('dim', padEnd(title, keyWidth))}${' '.repeat(GAP)}${fitCell(key, cell, room)}`]
      : [
          paint('dim', truncateEnd(title, columns)),
          `${' '.repeat(GAP)}${fitCell(key, cell, columns - GAP)}`,
        ],
  )
}
