import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import type { ToolFacts } from '../../contract/manifest.ts'
import { checkFlags } from '../flags/check.ts'
import type { FlagSpec } from '../flags/flag-spec.ts'
import { nameFlag } from '../flags/name-flag.ts'
import type { NamedFlag } from '../flags/name-flag.ts'

/** A flag without what only help and parsing need. */
export type EarlyFlag = NamedFlag & Pick<FlagSpec, 'kind' | 'required'>

type FlagSource = Pick<ToolFacts, 'name' | 'flags' | 'positional'>

const KINDS: ReadonlyMap<unknown, FlagSpec['kind']> = new Map([
  ['boolean', 'boolean'],
  ['array', 'list'],
  ['object', 'object'],
])

/** Refuses clashes on the command line as soon as a tool is defined. */
export function checkFlagsEarly(schema: JsonSchema, source: FlagSource): void {
  checkFlags(source, earlyFlags(schema, source))
}

/** The flags of a plain object schema. */
export function earlyFlags(schema: JsonSchema, source: FlagSource): EarlyFlag[] {
  const required = Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : []
  const all = Object.entries(schema['properties'] as { [field: string]: unknown }).map(
    ([field, given]) => {
      const property = isObject(given) ? given : {}
      return {
        ...nameFlag(field, source),
        kind: KINDS.get(property['type']) ?? 'value',
        required: required.includes(field) && !Object.hasOwn(property, 'default'),
      }
    },
  )
  // By position they stand in the author's order.
  return [
    ...source.positional.flatMap((field) => all.find((flag) => flag.field === field) ?? []),
    ...all.filter((flag) => !flag.positional),
  ]
}
