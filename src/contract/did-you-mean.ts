const LONGEST_WORD = 64

/** The candidate that was probably meant by `word`, or undefined when none is near. `-`, `_` and case do not count; a beginning of a word counts. */
export function closest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = normalise(word)
  if (wanted === '' || wanted.length > LONGEST_WORD) return undefined
  let best: string | undefined
  let bestDistance = allowedDistance(wanted.length) + 1
  const continued: string[] = []
  for (const candidate of candidates) {
    const known = normalise(candidate)
    if (known === wanted) return candidate
    if (known.length > LONGEST_WORD) continue
    if (wanted.length > 1 && known.startsWith(wanted)) continued.push(candidate)
    if (Math.abs(known.length - wanted.length) >= bestDistance) continue
    const distance = countEdits(wanted, known)
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  // A beginning that fits several words says nothing about which one was meant.
  return best ?? (continued.length === 1 ? continued[0] : undefined)
}

function normalise(word: string): string {
  return word.toLowerCase().replace(/[-_]/g, '')
}

function allowedDistance(length: number): number {
  if (length < 3) return 0
  return length < 6 ? 1 : length < 10 ? 2 : 3
}

// Damerau-Levenshtein (optimal string alignment): a swap of neighbours is one edit.
function countEdits(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1]
      let cost = Math.min(
        last[column]! + 1,
        current[column - 1]! + 1,
        last[column - 1]! + (same ? 0 : 1),
      )
      const swapped =
        row > 1 &&
        column > 1 &&
        from[row - 1] === to[column - 2] &&
        from[row - 2] === to[column - 1]
      if (swapped) cost = Math.min(cost, beforeLast[column - 2]! + 1)
      current.push(cost)
    }
    beforeLast = last
    last = current
  }
  return last[to.length]!
}
