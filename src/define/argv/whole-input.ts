import type { Word } from './scan.ts'

/** The ways in which one word is the whole input: a JSON object, a file that holds one (`@input.json`), or stdin (`-`). */
export type WholeInput = 'json' | 'file' | 'stdin'

/** How the first word is the whole input; undefined when it is a value like any other. `takesWords`: the tool has fields by position, and one of them may begin with `@`. */
export function wholeInput(first: Word | undefined, takesWords: boolean): WholeInput | undefined {
  if (!first || first.literal) return undefined
  const { text } = first
  if (text.trimStart().startsWith('{')) return 'json'
  if (text === '-') return 'stdin'
  return text.length > 1 && text.startsWith('@') && (text.endsWith('.json') || !takesWords)
    ? 'file'
    : undefined
}
