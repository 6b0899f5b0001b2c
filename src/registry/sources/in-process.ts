import { ToolError } from '../../contract/tool-error.ts'
import type { Resource } from '../../define/resource.ts'
import type { Prompt } from '../../define/prompt.ts'
import { collectTools } from '../../call/collect.ts'
import type { ToolEntry, ToolTree } from '../../call/collect.ts'
import type { Servable } from '../../call/servable.ts'
import { isTool } from '../../call/tool.ts'
import type { AnyTool } from '../../call/tool.ts'
import type { FoundTool, Loaded } from '../found.ts'
import type { Source } from '../source.ts'

/** What the option `tools` takes. */
export type InProcessTools = ToolTree | Servable | readonly (AnyTool | Servable)[]

/** Tools and toolsets of this very process. Throws CONFIG for what is neither. */
export function inProcessSource(tools: InProcessTools): Source {
  const { sets, tree } = sort(tools)
  const own = collectTools(tree)
  return {
    name: OWN,
    kind: 'in-process tools',
    location: 'this process',
    load: async () =>
      join([
        {
          tools: own.map((entry) =>
            foundFrom(entry, { source: OWN, kind: 'tool', tier: 'in-process' }),
          ),
        },
        ...(await Promise.all(sets.map((set) => loadedFrom(set, 'in-process')))),
      ]),
    onChange: (listener) => sets.forEach((set) => set.onChange(listener)),
  }
}

const OWN = 'local'

/** Everything that a toolset holds, as a source finds it. */
export async function loadedFrom(
  set: Servable,
  tier: FoundTool['tier'],
  location?: string,
): Promise<Loaded> {
  await set.prepare?.()
  return {
    tools: set.entries.map((entry) =>
      foundFrom(entry, {
        source: set.name,
        version: set.version,
        kind: 'toolset',
        tier,
        ...(location !== undefined && { location }),
      }),
    ),
    resources: set.resources,
    prompts: set.prompts,
  }
}

/** A tool of this process, as a source finds it. */
export function foundFrom(
  { name, definition }: ToolEntry,
  about: Pick<FoundTool, 'source' | 'kind' | 'tier' | 'version' | 'location'>,
): FoundTool {
  return {
    ...about,
    name,
    summary: definition.facts.summary,
    tags: definition.facts.tags,
    define: (wanted) => (wanted === definition.name ? definition : definition.renamed(wanted)),
  }
}

/** True for a toolset, also of another copy of this package. */
export function isServable(value: unknown): value is Servable {
  return (
    typeof value === 'object' &&
    value !== null &&
    Array.isArray((value as Partial<Servable>).entries) &&
    typeof (value as Partial<Servable>).find === 'function'
  )
}

function sort(tools: InProcessTools): {
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

function join(parts: readonly Loaded[]): Loaded {
  const all = <T>(pick: (loaded: Loaded) => readonly T[] | undefined): readonly T[] =>
    parts.flatMap((part) => pick(part) ?? [])
  return {
    tools: all(({ tools }) => tools),
    resources: all<Resource>(({ resources }) => resources),
    prompts: all<Prompt>(({ prompts }) => prompts),
  }
}
