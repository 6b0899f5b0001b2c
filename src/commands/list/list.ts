import type { Filter } from '../../registry/filter.ts'
import type { Problem } from '../../registry/found.ts'
import type { ListedTool } from '../../registry/registry-type.ts'
import type { Surroundings } from '../config/load.ts'
import { withRegistry } from '../with-registry.ts'

export type ListInput = Surroundings & { readonly tag?: readonly string[]; readonly source?: readonly string[]; readonly kind?: readonly string[]; readonly problems?: boolean; readonly all?: boolean }

/** What `list` gives; what is not shown is counted. */
export type Listing = {
  readonly tools: readonly ListedTool[]
  readonly problems: readonly Problem[]
  /** Tools whose name means another one. */
  readonly shadowed: number
  /** Only the problems were asked for. */
  readonly only_problems?: true
}

/** Lists the tools of a registry. */
export async function listTools({ tag, source, kind, problems = false, all = false, ...surroundings }: ListInput, where: { readonly cwd: string; readonly env: { readonly [name: string]: string | undefined } }): Promise<Listing> {
  return withRegistry(surroundings, where, (registry) => {
    const filter: Filter = { ...(tag && { tag }), ...(source && { source }), ...(kind && { kind }) }
    const found = registry.list(filter)
    const tools = problems ? [] : found.filter(({ shadowed_by }) => all || shadowed_by === undefined)
    return { tools, problems: registry.problems(), shadowed: found.filter(({ shadowed_by }) => shadowed_by !== undefined).length, ...(problems && { only_problems: true as const }) }
  })
}
