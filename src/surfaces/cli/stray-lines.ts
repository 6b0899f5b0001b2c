import { hearOtherStray } from '../../call/stray-words.ts'

/** So much of a line that does not end is kept. */
const LONGEST_LINE = 64 * 1024

/** Has somebody get what handlers print as lines, where nobody else hears it, until the function that it gives is called: then comes what was left without an end. */
export function hearStrayLines(take: (line: string) => void): () => void {
  const decoder = new TextDecoder()
  let rest = ''
  const end = hearOtherStray((bytes) => {
    const lines = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n')
    rest = lines.pop()!
    lines.forEach(take)
    if (rest.length > LONGEST_LINE) {
      take(rest)
      rest = ''
    }
    return true
  })
  return () => {
    end()
    if (rest !== '') take(rest)
    rest = ''
  }
}
