import type { Row, Worth } from './row.ts'

const ORDER: readonly Worth[] = ['head', 'problem', 'live', 'fact', 'log', 'done', 'later']
/** Of these the last ones are worth more: they are the newest. */
const NEWEST: readonly Worth[] = ['log', 'done']

/** At most `height` rows: what matters least becomes `… 14 more` in its place. */
export function foldRows(rows: readonly Row[], height: number, cut: string): readonly Row[] {
  if (rows.length <= height) return rows
  const order = rows.map((_row, index) => index).sort((left, right) => weigh(rows[left]!, left) - weigh(rows[right]!, right))
  for (let kept = Math.max(0, height - 1); kept > 0; kept--) {
    const folded = fold(rows, new Set(order.slice(0, kept)), cut)
    if (folded.length <= height) return folded
  }
  return height < 1 ? [] : [more(rows, cut)]
}

function fold(rows: readonly Row[], kept: ReadonlySet<number>, cut: string): readonly Row[] {
  const folded: Row[] = []
  let gone: Row[] = []
  const close = (): void => {
    // One row is not shorter than the note that it is missing.
    if (gone.length > 0) folded.push(gone.length === 1 ? gone[0]! : more(gone, cut))
    gone = []
  }
  rows.forEach((row, index) => {
    if (!kept.has(index)) return void gone.push(row)
    close()
    folded.push(row)
  })
  close()
  return folded
}

function more(gone: readonly Row[], cut: string): Row {
  const count = (worth: Worth, word: string): string | undefined => {
    const number = gone.filter((row) => row.worth === worth).length
    return number === 0 ? undefined : `${number} ${word}`
  }
  const kinds = [count('problem', 'with a problem'), count('live', 'running'), count('done', 'done'), count('later', 'not begun')].filter((part) => part !== undefined)
  const depth = Math.min(...gone.map((row) => row.depth))
  return { depth, icon: { text: cut, role: 'dim' }, notes: [{ text: `${gone.length} more${kinds.length === 0 ? '' : ` (${kinds.join(', ')})`}`, role: 'dim' }], worth: 'done' }
}

// Rank first, then place: the figures of a rank never reach those of the next.
function weigh({ worth }: Row, index: number): number {
  return ORDER.indexOf(worth) * 1_000_000 + (NEWEST.includes(worth) ? 500_000 - index : index)
}
