import { closest } from '../../../contract/did-you-mean.ts'
import type { ToolsetManifest } from '../../../contract/manifest.ts'
import { shorten } from '../../../contract/shorten.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import { lookupKey } from '../../../define/names.ts'
import type { ToolCommand } from '../../cli/command-path.ts'
import { groupTools } from './group-tools.ts'
import type { DocModel } from './model.ts'
import { readTool } from './read-tool.ts'
import { tidyLine, tidyText } from './tidy-text.ts'

/** All that documents say about a program; with `only`, about these of its tools. Throws NOT_FOUND for a tool that it does not have. */
export function readProgram(manifest: ToolsetManifest, only: readonly string[] = []): DocModel {
  const single = manifest.tools.length === 1
  const shown = only.length === 0 ? manifest.tools : pickTools(manifest, only)
  const pairs = shown.map((tool) => [tool, readTool(manifest, tool, single)] as const)
  const { name, description } = manifest
  return {
    name,
    version: tidyLine(manifest.version),
    ...(description !== undefined &&
      description.trim() !== '' && { description: tidyText(description) }),
    single,
    tools: pairs.map(([, doc]) => doc),
    groups: groupTools(pairs),
    tags: [...new Set(shown.flatMap(({ tags }) => tags.map(tidyLine)))].filter((tag) => tag !== ''),
    resources: manifest.resources.map((resource) => ({
      ...resource,
      uri: tidyLine(resource.uri),
      summary: tidyLine(resource.summary),
    })),
    prompts: manifest.prompts.map((prompt) => ({ ...prompt, summary: tidyLine(prompt.summary) })),
    ...(only.length > 0 && { only: shown.map((tool) => tool.name) }),
  }
}

/** The tools of these names, in the order of the program. Throws NOT_FOUND for one that it does not have. */
export function pickTools({ tools }: ToolsetManifest, only: readonly string[]): ToolCommand[] {
  const wanted = new Set(only.map((name) => findTool(tools, name)))
  return tools.filter((tool) => wanted.has(tool))
}

function findTool(tools: readonly ToolCommand[], name: string): ToolCommand {
  const found = tools.find((tool) => lookupKey(tool.name) === lookupKey(name))
  if (found) return found
  const names = tools.map((tool) => tool.name)
  const meant = closest(name, names)
  throw new ToolError(
    'NOT_FOUND',
    `there is no tool '${shorten(name, 100)}'${meant ? `; did you mean '${meant}'?` : ''}`,
    {
      field: 'tool',
      suggestion: meant
        ? { fix: `Use --tool ${meant}`, applicability: 'maybe_incorrect' }
        : {
            fix:
              names.length === 0
                ? 'This program has no tools'
                : `The tools are ${names.slice(0, 20).join(', ')}`,
          },
    },
  )
}
