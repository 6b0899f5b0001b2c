const LONGEST = 2000

/** A pattern that JavaScript understands in Unicode mode, repaired where that is easy (`\-`, `\Z`, `(?P<name>`); undefined when it cannot be. */
export function tamePattern(pattern: string): string | undefined {
  if (pattern.length > LONGEST) return undefined
  if (compiles(pattern)) return pattern
  const repaired = pattern
    .replace(/\(\?P</g, '(?<')
    .replace(/\\([\s\S])/g, (escape, character: string, index: number) =>
      repairEscape(escape, character, pattern, index),
    )
  return compiles(repaired) ? repaired : undefined
}

function repairEscape(escape: string, character: string, pattern: string, index: number): string {
  if (character === 'Z' || character === 'z') return '$'
  if (character === 'A') return '^'
  if (/[\^$\\.*+?()[\]{}|/dDwWsSbBnrtvfcxukpP0-9]/.test(character)) return escape
  // A dash may be escaped only within brackets.
  return character === '-' && pattern.lastIndexOf('[', index) > pattern.lastIndexOf(']', index)
    ? escape
    : character
}

function compiles(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u')
    return true
  } catch {
    return false
  }
}
