/**
 * Eight characters of `a-z 0-9` that stand for a text: the same everywhere and always, so that
 * names made with it are stable. It hides nothing.
 */
export function shortHash(text: string): string {
  // Two FNV-1a runs over UTF-16 halves: `node:crypto` costs a start more than all names of a
  // program.
  const [first, second] = [hashFnv1a(text, 0x811c9dc5), hashFnv1a(text, 0x1b873593)]
  return `${first.toString(36).padStart(7, '0').slice(-4)}${second.toString(36).padStart(7, '0').slice(-4)}`
}

function hashFnv1a(text: string, seed: number): number {
  let hash = seed
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193)
    hash = Math.imul(hash ^ (unit >>> 8), 0x01000193)
  }
  // The low bits of FNV follow the last characters too plainly.
  hash ^= hash >>> 15
  return Math.imul(hash, 0x2c1b3c6d) >>> 0
}

/** What stands for a text: it tells a change, and hides nothing. */
export function hashText(text: string): string {
  return `${text.length.toString(36)}-${shortHash(text)}`
}
