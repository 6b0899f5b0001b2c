/** Finds any of many patterns in bytes, in one pass. */
export type PatternFinder = {
  /** Where patterns stand, overlaps joined: starts and ends in turn, in order. */
  find(bytes: Buffer): readonly number[]
  /** The first place from which everything to the end is the beginning of a pattern; the length where there is none. */
  findBeginning(bytes: Buffer): number
}

const BLOCK = 3
const SLOTS = 0x40000
const STARTS = 0x10000
/** So many slots may belong to patterns; with more of them a wider window moves less, not more. */
const FILLED = 0x4000

/**
 * Prepares the search for patterns of at least 6 bytes. The last three bytes of a window no longer than the shortest pattern tell how far the window can move
 * without missing one (Wu and Manber), so that most bytes are never looked at and the number of patterns hardly matters.
 */
export function findPatterns(patterns: readonly Buffer[]): PatternFinder {
  const window = patterns.reduce(
    (least, pattern) => Math.min(least, pattern.length),
    Math.max(6, Math.min(255, Math.floor(FILLED / patterns.length))),
  )
  const longest = patterns.reduce((most, pattern) => Math.max(most, pattern.length), 0)
  const shifts = new Uint8Array(SLOTS).fill(window - BLOCK + 1)
  const candidates = new Map<number, Buffer[]>()
  const startsWith = new Uint8Array(STARTS)
  const starts = new Map<number, Buffer[]>()
  for (const pattern of patterns) {
    for (let at = BLOCK - 1; at < window; at += 1) {
      const slot = slotOf(pattern, at)
      shifts[slot] = Math.min(shifts[slot]!, window - 1 - at)
    }
    addTo(candidates, slotOf(pattern, window - 1), pattern)
    const start = (pattern[0]! << 8) | pattern[1]!
    startsWith[start] = 1
    addTo(starts, start, pattern)
  }
  const firstBytes = new Uint8Array(256)
  for (const pattern of patterns) firstBytes[pattern[0]!] = 1

  return {
    find(bytes) {
      const found: number[] = []
      for (let at = window - 1; at < bytes.length;) {
        const slot = slotOf(bytes, at)
        const shift = shifts[slot]!
        if (shift > 0) {
          at += shift
          continue
        }
        const start = at - window + 1
        let end = 0
        for (const pattern of candidates.get(slot)!)
          if (pattern.length > end - start && stands(pattern, bytes, start))
            end = start + pattern.length
        if (end > 0) addRange(found, start, end)
        at += 1
      }
      return found
    },
    findBeginning(bytes) {
      const last = bytes.length - 1
      for (let at = Math.max(0, bytes.length - longest + 1); at < last; at += 1) {
        const start = (bytes[at]! << 8) | bytes[at + 1]!
        if (
          startsWith[start] === 1 &&
          starts
            .get(start)!
            .some((pattern) => pattern.length > bytes.length - at && begins(pattern, bytes, at))
        )
          return at
      }
      return last >= 0 && firstBytes[bytes[last]!] === 1 ? last : bytes.length
    },
  }
}

function slotOf(bytes: Buffer, at: number): number {
  return Math.imul((bytes[at]! << 16) | (bytes[at - 1]! << 8) | bytes[at - 2]!, 0x9e3779b1) >>> 14
}

function addTo(lists: Map<number, Buffer[]>, key: number, pattern: Buffer): void {
  const list = lists.get(key)
  if (list) list.push(pattern)
  else lists.set(key, [pattern])
}

function stands(pattern: Buffer, bytes: Buffer, start: number): boolean {
  return start + pattern.length <= bytes.length && begins(pattern, bytes, start)
}

function begins(pattern: Buffer, bytes: Buffer, start: number): boolean {
  const length = Math.min(pattern.length, bytes.length - start)
  for (let at = 0; at < length; at += 1) if (pattern[at] !== bytes[start + at]) return false
  return true
}

function addRange(found: number[], start: number, end: number): void {
  const lastEnd = found.at(-1) ?? -1
  if (start >= lastEnd) found.push(start, end)
  else if (end > lastEnd) found[found.length - 1] = end
}
