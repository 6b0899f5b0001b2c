import type { JsonSchema } from '../../contract/json.ts'
import type { FlagOptions } from '../../contract/manifest.ts'
import { otherFlagName } from '../../define/flags/check.ts'
import { flagName } from '../../define/flags/flag-name.ts'

/** The flags of fields that need one of their own: because a comment says so, or because every tool has one of that name already. */
export function nameFlags(
  fields: ReadonlyMap<string, { readonly schema: JsonSchema; readonly flag: FlagOptions }>,
): { readonly [field: string]: FlagOptions } {
  const flags: [string, FlagOptions][] = []
  const taken = new Set<string>()
  for (const [field, { schema, flag }] of fields) {
    const wanted = flag.name ?? (flagName(field) || 'value')
    const free = otherFlagName(wanted, schema['type'] === 'boolean') ?? wanted
    const name = taken.has(free) ? `other-${free}` : free
    taken.add(name)
    const options = { ...flag, ...(name !== flagName(field) && { name }) }
    if (Object.keys(options).length > 0) flags.push([field, options])
  }
  return Object.fromEntries(flags)
}
