import type { Question } from '../../runner/interactions/read-question.ts'

/** About how many rows of a terminal a question takes. */
export function rowsToAsk({
  prompt,
  options = [],
  problem,
}: Pick<Question, 'prompt' | 'options' | 'problem'>): number {
  return (
    prompt.split('\n').length +
    options.length +
    (options.length > 0 ? 1 : 0) +
    (problem === undefined ? 0 : 1)
  )
}
