import type { ContentBlock } from '../content.ts'
import { contentProblem } from '../content-problem.ts'

/** Content of a foreign document, as a field to spread; undefined for what is no list of content. */
export function readContent(
  value: unknown,
): { readonly content: readonly ContentBlock[] } | undefined {
  const isContent =
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((block) => contentProblem(block) === undefined)
  return isContent ? { content: value as readonly ContentBlock[] } : undefined
}
