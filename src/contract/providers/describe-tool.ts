import type { ToolManifest } from '../manifest.ts'
import { ELLIPSIS } from '../wide-characters.ts'

/** What a model is told about a tool, cut where a provider takes no more. */
export function describeTool(
  { summary, description }: Pick<ToolManifest, 'summary' | 'description'>,
  longest = Infinity,
): string {
  // The summary of a foreign tool is often the beginning of its description.
  const repeated =
    description !== undefined && description.trimStart().startsWith(summary.replace(/\.{3}$/, ''))
  const text =
    description === undefined
      ? summary
      : repeated
        ? description.trim()
        : `${summary}\n\n${description}`
  return text.length <= longest ? text : `${text.slice(0, longest - 1).trimEnd()}${ELLIPSIS}`
}
