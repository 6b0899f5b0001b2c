import type { ContentBlock } from '../contract/content.ts'
import { contentProblem } from '../contract/content-problem.ts'
import { ToolError } from '../contract/tool-error.ts'
import { toJsonValue } from './json-value.ts'

/** One block or a list of them as JSON can carry it; throws INTERNAL, naming `giver` and the place, for what no reader would understand. */
export function checkContent(giver: string, given: unknown): readonly ContentBlock[] {
  const blocks: readonly unknown[] = Array.isArray(given) ? given : [given]
  return blocks.map((block, index) => {
    const problem = contentProblem(block)
    if (problem === undefined) return toJsonValue(block).value as ContentBlock
    throw new ToolError(
      'INTERNAL',
      `${giver} gave content that cannot be shown: block ${index + 1} ${problem}`,
      {
        suggestion: {
          action: 'abort',
          fix: 'The author should make it with content.text, content.image, content.audio, content.resource or content.link',
        },
      },
    )
  })
}
