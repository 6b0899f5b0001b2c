import { ToolError } from '../../contract/tool-error.ts'

/** Answers as they were typed, as options of a run: what they mean is seen when the question is known. */
export type TypedAnswers = {
  readonly answers: { readonly [key: string]: string }
  readonly typedAnswers: readonly string[]
}

/** Reads `--answer key=value` flags. */
export function readAnswers(pairs: readonly string[]): TypedAnswers {
  const answers: { [key: string]: string } = Object.create(null) as { [key: string]: string }
  for (const pair of pairs) {
    const split = pair.indexOf('=')
    if (split < 1)
      throw new ToolError('USAGE', `--answer needs key=value; got '${pair.slice(0, 60)}'`, {
        field: 'answer',
        suggestion: 'For example --answer strategy=batch',
      })
    answers[pair.slice(0, split)] = pair.slice(split + 1)
  }
  return { answers, typedAnswers: Object.keys(answers) }
}
