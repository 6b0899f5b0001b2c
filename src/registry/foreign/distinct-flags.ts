import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import type { FlagOptions } from '../../contract/manifest.ts'
import { CONTROL_FLAGS, INJECTED_FLAGS } from '../../define/flags/injected.ts'
import { flagName } from '../../define/flags/flag-name.ts'

/** Names of flags for fields that others named, where their own would clash with each other or with what every tool has. */
export function distinctFlags(schema: JsonSchema | undefined): { readonly [field: string]: FlagOptions } {
  const properties = schema?.['properties']
  if (!isObject(properties)) return {}
  const reserved = new Set([...INJECTED_FLAGS, ...CONTROL_FLAGS].filter((flag) => !flag.yields).map((flag) => flag.long))
  const taken = new Set<string>()
  const renamed: { [field: string]: FlagOptions } = Object.create(null) as {}
  // Shorter ones first: `verify` keeps its name, and `no-verify` yields.
  for (const field of Object.keys(properties).sort((left, right) => left.length - right.length)) {
    const own = flagName(field)
    let long = own
    for (let count = 1; isTaken(long, taken, reserved); count += 1) long = count === 1 ? `tool-${own}` : `tool-${own}-${count}`
    taken.add(long)
    if (long !== own) renamed[field] = { name: long }
  }
  return renamed
}

function isTaken(long: string, taken: ReadonlySet<string>, reserved: ReadonlySet<string>): boolean {
  return taken.has(long) || reserved.has(long) || reserved.has(`no-${long}`) || (long.startsWith('no-') && taken.has(long.slice(3)))
}
