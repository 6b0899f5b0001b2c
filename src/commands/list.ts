/**
 * `toolable list`.
 */

import { ToolError } from '../protocol/tool-error.ts'
import type { Filter } from '../registry/filter.ts'
import { createWildcardMatcher } from '../registry/filter.ts'
import type { Problem } from '../registry/source.ts'
import type { ListedTool, Registry } from '../registry/types.ts'
import { describeUnknownName } from '../util/text.ts'
import { compact } from '../util/values.ts'
import type { CommandContext } from './command.ts'
import type { RegistryFlags } from './config.ts'
import { withRegistry } from './config.ts'

export type ListInput = RegistryFlags & {
  readonly tag?: readonly string[]
  readonly source?: readonly string[]
  readonly kind?: readonly string[]
  readonly problems?: boolean
  readonly all?: boolean
}

/** What `list` gives; what is not shown is counted. */
export type ToolListing = {
  readonly tools: readonly ListedTool[]
  readonly problems: readonly Problem[]
  /** Tools whose name means another one. */
  readonly shadowed: number
  /** Only the problems were asked for. */
  readonly only_problems?: true
}

/** Lists the tools of a registry. */
export async function listTools(
  { tag, source, kind, problems = false, all = false, ...surroundings }: ListInput,
  where: CommandContext,
): Promise<ToolListing> {
  return withRegistry(surroundings, where, (registry) => {
    const chosen = source && chooseSources(registry, source)
    const filter: Filter = compact({ tag, kind })
    const found = registry.list(filter).filter((tool) => chosen?.(tool.source) ?? true)
    const tools = problems
      ? []
      : found.filter(({ shadowed_by }) => all || shadowed_by === undefined)
    return compact({
      tools,
      problems: registry.problems().filter((problem) => chosen?.(problem.source) ?? true),
      shadowed: found.filter(({ shadowed_by }) => shadowed_by !== undefined).length,
      only_problems: problems ? (true as const) : undefined,
    })
  })
}

// A source that brings nothing but problems is one too.
function chooseSources(registry: Registry, wanted: readonly string[]): (source: string) => boolean {
  const names = registry.sources().map(({ name }) => name)
  const used = [...registry.list(), ...registry.problems()].map(({ source }) => source)
  const known = [...new Set([...used, ...names])]
  const tests = wanted.map(createWildcardMatcher)
  const unknown = wanted.find((_name, index) => !known.some(tests[index]!))
  if (unknown !== undefined)
    throw new ToolError('NOT_FOUND', describeUnknownName('source', unknown, known).message, {
      details: { sources: known.slice(0, 50) },
    })
  return (source) => tests.some((fits) => fits(source))
}
