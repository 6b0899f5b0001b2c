/** A word as a POSIX shell has to see it to hand it on unchanged. */
export function quoteForShell(word: string): string {
  return /^[\w@%+:,./-][\w@%+:,./=-]*$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Words as a command line that can be pasted, whatever is in them. */
export function quoteAllForShell(words: readonly string[]): string {
  return words.map(quoteForShell).join(' ')
}
