import { ToolError } from '../../contract/tool-error.ts'

/** Reads `--answer key=value` flags. A value that is JSON means that; anything else is text. */
export function readAnswers(pairs: readonly string[]): { readonly [key: string]: unknown } {
  const answers: { [key: string]: unknown } = Object.create(null) as { [key: string]: unknown }
  for (const pair of pairs) {
    const split = pair.indexOf('=')
    if (split < 1) throw new ToolError('USAGE', `--answer needs key=value; got '${pair.slice(0, 60)}'`, { field: 'answer', suggestion: 'For example --answer strategy=batch' })
    answers[pair.slice(0, split)] = readValue(pair.slice(split + 1))
  }
  return answers
}

/** A value as it was typed: JSON where it is JSON, else text. */
export function readValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
