import { openOrdinary } from '../../../../runner/log/open-ordinary.ts'
import { readWholeLines } from '../../../../runner/log/whole-lines.ts'
import type { LogPage } from '../../../model/wire/run-detail.ts'
import type { LineIndex } from './line-index.ts'

const LONGEST_LINE = 16 * 1024
const LINE_FEED = 0x0a

/** Lines of a text file, from a number on; a negative one counts from the end. Long lines are cut, and what stands behind the last line feed counts as a line. A file that is not there has none. */
export async function readLines(
  path: string,
  index: LineIndex,
  from: number,
  limit: number,
): Promise<LogPage> {
  const { lines, end } = await index.catchUp()
  const file = await openOrdinary(path)
  if (!file) return { lines: [], first: 1, total: 0 }
  const shown: string[] = []
  let cut = 0
  const show = (bytes: Buffer, size: number): void => {
    shown.push(bytes.toString('utf8', 0, Math.min(bytes.length, LONGEST_LINE)).replace(/\r$/, ''))
    cut += Math.max(0, size - LONGEST_LINE)
  }
  try {
    const { size } = await file.stat()
    const total = lines + (size > end ? 1 : 0)
    const first = Math.max(1, from < 0 ? total + from + 1 : from)
    const { line: known, offset } = index.before(first)
    let line = known
    for await (const { bytes } of first <= lines ? readWholeLines(file, offset) : []) {
      for (let at = 0; at < bytes.length && line <= lines && shown.length < limit; line += 1) {
        const to = bytes.indexOf(LINE_FEED, at)
        if (line >= first) show(bytes.subarray(at, to), to - at)
        at = to + 1
      }
      if (line > lines || shown.length >= limit) break
    }
    if (size > end && shown.length < limit && first <= total) {
      const { buffer, bytesRead } = await file.read(
        Buffer.alloc(LONGEST_LINE),
        0,
        LONGEST_LINE,
        end,
      )
      show(buffer.subarray(0, bytesRead), size - end)
    }
    return { lines: shown, first, total, ...(cut > 0 && { cut }) }
  } finally {
    await file.close()
  }
}
