/**
 * What tools print, handed over line by line while a live display is on the terminal.
 */

import { captureRemainingStrayOutput } from '../core/call-scope.ts'

/** So much of a line that does not end is kept. */
const MAX_LINE_CHARS = 64 * 1024

/**
 * Has somebody get what handlers print as lines, where nobody else hears it, until the function
 * that it gives is called: then comes what was left without an end.
 */
export function captureStrayLines(take: (line: string) => void): () => void {
  const decoder = new TextDecoder()
  let rest = ''
  const end = captureRemainingStrayOutput((bytes) => {
    const lines = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n')
    rest = lines.pop()!
    lines.forEach(take)
    if (rest.length > MAX_LINE_CHARS) {
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
