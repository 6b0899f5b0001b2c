import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import type { FlagOptions } from '../../contract/manifest.ts'
import { checkFlags } from '../flags/check.ts'
import type { CheckedFlag } from '../flags/check.ts'
import { flagName } from '../flags/flag-name.ts'
import { FED_FIELDS } from '../flags/injected.ts'

const KINDS: { readonly [type: string]: CheckedFlag['kind'] | undefined } = { boolean: 'boolean', array: 'list', object: 'object' }

type FlagSource = { readonly name: string; readonly positional: readonly string[]; readonly flags: { readonly [field: string]: FlagOptions } }

/** Refuses clashes on the command line as soon as a tool is defined. */
export function checkFlagsEarly(schema: JsonSchema, source: FlagSource): void {
  checkFlags(source, earlyFlags(schema, source))
}

/** The flags of a plain object schema, without what only help and parsing need. */
export function earlyFlags(schema: JsonSchema, { positional, flags }: FlagSource): CheckedFlag[] {
  const required = Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : []
  const all = Object.entries(schema['properties'] as { [field: string]: unknown }).map(([field, given]) => {
    const property = isObject(given) ? given : {}
    const options = Object.hasOwn(flags, field) ? flags[field]! : {}
    const long = options.name ?? flagName(field)
    const fedBy = FED_FIELDS.get(field)
    return {
      field,
      long,
      ...(options.short !== undefined && { short: options.short }),
      ...(fedBy === long && { fedBy }),
      kind: KINDS[String(property['type'])] ?? 'value',
      required: required.includes(field) && !Object.hasOwn(property, 'default'),
      positional: positional.includes(field),
    }
  })
  // By position they stand in the author's order.
  return [...positional.flatMap((field) => all.find((flag) => flag.field === field) ?? []), ...all.filter((flag) => !flag.positional)]
}
