import type { Row, Worth } from './row.ts'

const ORDER: readonly Worth[] = ['head', 'problem', 'live', 'fact', 'log', 'done', 'later']
/** Of these the last ones are worth more: they are the newest. */
const NEWEST: readonly Worth[] = ['log', 'done']

/** At most `height` rows: what matters least becomes `… 14 more`, where most of it was. */
export function foldRows(rows: readonly Row[], height: number, cut: string): readonly Row[] {
  if (rows.length <= height) return rows
  if (height < 1) return []
  const order = rows
    .map((_row, index) => index)
    .sort((left, right) => weigh(rows[left]!, left) - weigh(rows[right]!, right))
  const kept = order.slice(0, height - 1).sort((left, right) => left - right)
  const place = widestGap(kept, rows.length)
  const gone = rows.filter((_row, index) => !kept.includes(index))
  return [
    ...kept.slice(0, place).map((index) => rows[index]!),
    more(gone, cut),
    ...kept.slice(place).map((index) => rows[index]!),
  ]
}

// How many of the kept rows stand before it.
function widestGap(kept: readonly number[], total: number): number {
  let [place, widest] = [0, 0]
  for (let index = 0; index <= kept.length; index++) {
    const gap = (kept[index] ?? total) - (kept[index - 1] ?? -1)
    if (gap > widest) [place, widest] = [index, gap]
  }
  return place
}

function more(gone: readonly Row[], cut: string): Row {
  const count = (worth: Worth, word: string): string | undefined => {
    const number = gone.filter((row) => row.worth === worth).length
    return number === 0 ? undefined : `${number} ${word}`
  }
  const kinds = [
    count('problem', 'with a problem'),
    count('live', 'running'),
    count('done', 'done'),
    count('later', 'not begun'),
  ].filter((part) => part !== undefined)
  const depth = Math.min(...gone.map((row) => row.depth))
  return {
    depth,
    icon: { text: cut, role: 'dim' },
    notes: [
      {
        text: `${gone.length} more${kinds.length === 0 ? '' : ` (${kinds.join(', ')})`}`,
        role: 'dim',
      },
    ],
    worth: 'done',
  }
}

// Rank first, then place: the figures of a rank never reach those of the next.
function weigh({ worth }: Row, index: number): number {
  return ORDER.indexOf(worth) * 1_000_000 + (NEWEST.includes(worth) ? 500_000 - index : index)
}
