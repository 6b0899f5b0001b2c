/**
 * Tools and toolsets of this process.
 */

import type { Servable, ToolEntry, ToolTree } from '../../core/provider.ts'
import { collectTools } from '../../core/provider.ts'
import type { AnyTool } from '../../core/tool.ts'
import { isTool } from '../../core/tool.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact } from '../../util/values.ts'
import type { FoundTool, LoadedSource, ToolSource } from '../source.ts'
import { joinLoaded } from '../source.ts'

type InProcessTools = ToolTree | Servable | readonly (AnyTool | Servable)[]

/** Opens tools and toolsets of this process. Throws CONFIG for what is neither. */
export function openSource(tools: InProcessTools): ToolSource {
  const { sets, tree } = splitToolsets(tools)
  const own = collectTools(tree)
  return {
    name: OWN_SOURCE_NAME,
    kind: 'in-process tools',
    location: 'this process',
    load: async () =>
      joinLoaded([
        {
          tools: own.map((entry) =>
            toInProcessTool(entry, { source: OWN_SOURCE_NAME, kind: 'tool', tier: 'in-process' }),
          ),
        },
        ...(await Promise.all(sets.map((set) => loadToolset(set, 'in-process')))),
      ]),
    onChange: (listener) => sets.forEach((set) => set.onChange(listener)),
  }
}

const OWN_SOURCE_NAME = 'local'

/** Everything in a toolset, as a source finds it. */
export async function loadToolset(
  set: Servable,
  tier: FoundTool['tier'],
  location?: string,
): Promise<LoadedSource> {
  await set.prepare?.()
  return {
    tools: set.entries.map((entry) =>
      toInProcessTool(
        entry,
        compact({ source: set.name, version: set.version, kind: 'toolset', tier, location }),
      ),
    ),
    resources: set.resources,
    prompts: set.prompts,
  }
}

/** A tool of this process, as a source finds it. */
export function toInProcessTool(
  { name, definition }: ToolEntry,
  about: Pick<FoundTool, 'source' | 'kind' | 'tier' | 'version' | 'location'>,
): FoundTool {
  return {
    ...about,
    name,
    summary: definition.metadata.summary,
    tags: definition.metadata.tags,
    define: (wanted) => (wanted === definition.name ? definition : definition.withName(wanted)),
  }
}

/** True for a toolset, also one of another copy of this package. */
export function isServable(value: unknown): value is Servable {
  return (
    typeof value === 'object' &&
    value !== null &&
    Array.isArray((value as Partial<Servable>).entries) &&
    typeof (value as Partial<Servable>).find === 'function'
  )
}

function splitToolsets(tools: InProcessTools): {
  readonly sets: readonly Servable[]
  readonly tree: ToolTree
} {
  if (isTool(tools))
    throw new ToolError(
      'CONFIG',
      "'tools' of registry() takes a list or a record of tools: tools: [myTool]",
    )
  if (isServable(tools)) return { sets: [tools], tree: [] }
  if (!Array.isArray(tools)) return { sets: [], tree: tools as ToolTree }
  const sets = (tools as readonly unknown[]).filter(isServable)
  return { sets, tree: (tools as readonly AnyTool[]).filter((tool) => !isServable(tool)) }
}
