/** The words of a command line as a shell would split it; quotes hold words together, and a backslash takes the next letter as it is. */
export function splitWords(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote: string | undefined
  for (let at = 0; at < line.length; at++) {
    const letter = line[at]!
    if (quote !== undefined) {
      if (letter === quote) quote = undefined
      else
        word +=
          letter === '\\' && quote === '"' && /["\\$`]/.test(line[at + 1] ?? '')
            ? line[++at]!
            : letter
    } else if (letter === "'" || letter === '"') {
      quote = letter
      word ??= ''
    } else if (/\s/.test(letter)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + (letter === '\\' ? (line[++at] ?? '') : letter)
  }
  if (quote !== undefined) throw new Error(`a quote ${quote} is not closed`)
  return word === undefined ? words : [...words, word]
}
