import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import type { FlagOptions } from '../../contract/manifest.ts'
import { flagName } from '../../define/flags/flag-name.ts'
import { inputFields } from '../../define/flags/input-fields.ts'
import { CONTROL_FLAGS, INJECTED_FLAGS, PROGRAM_FLAGS } from '../../define/flags/injected.ts'
import { readField } from '../../define/flags/read-field.ts'

const ALL_FLAGS = [...INJECTED_FLAGS, ...CONTROL_FLAGS]
const SHORT = [...INJECTED_FLAGS, ...PROGRAM_FLAGS].flatMap(({ short }) => short ?? [])

export type TamedFlags = {
  readonly flags: { readonly [field: string]: FlagOptions }
  readonly positional: readonly string[]
}

/** How the fields of somebody else's tool are written on a command line: as its owner says where that is possible. Where a field is called like a flag that every tool has, the flag gets another name and the field keeps its own. */
export function tameFlags(
  schema: JsonSchema,
  given: { readonly flags?: unknown; readonly positional?: unknown },
): TamedFlags {
  const { properties, required } = inputFields(schema)
  const kinds = new Map([...properties].map(([field, inner]) => [field, readField(inner)]))
  const taken = new Set(ALL_FLAGS.filter((flag) => !flag.yields).map(({ long }) => long))
  const letters = new Set(SHORT)
  const isTaken = (long: string, isSwitch: boolean): boolean =>
    taken.has(long) ||
    (isSwitch && taken.has(`no-${long}`)) ||
    (long.startsWith('no-') && switches.has(long.slice(3)))
  const switches = new Set<string>()
  const flags: [string, FlagOptions][] = []
  const all = [...properties.keys()]
  // Shorter ones first: `verify` keeps its name, and `no-verify` yields.
  for (const [index, field] of all
    .toSorted((left, right) => left.length - right.length)
    .entries()) {
    const isSwitch = kinds.get(field)!.kind === 'boolean'
    const asked = ownOptions(given.flags, field)
    const natural = flagName(field)
    const name = [
      asked.name,
      natural,
      natural === 'output' ? 'out-file' : `tool-${natural}`,
      `${natural}-${index}`,
      `field-${index}`,
    ].find((long) => long !== undefined && isTypeable(long) && !isTaken(long, isSwitch))
    const long = name ?? `field-${index}-of-${properties.size}`
    taken.add(long)
    if (isSwitch) switches.add(long)
    const short = asked.short !== undefined && !letters.has(asked.short) ? asked.short : undefined
    if (short !== undefined) letters.add(short)
    const options = {
      ...(long !== natural && { name: long }),
      ...(short !== undefined && { short }),
      ...(asked.env !== undefined && { env: asked.env }),
      ...(asked.hidden && { hidden: true }),
    }
    if (Object.keys(options).length > 0) flags.push([field, options])
  }
  return {
    flags: Object.fromEntries(flags),
    positional: tamePositional(given.positional, kinds, required),
  }
}

function ownOptions(given: unknown, field: string): FlagOptions {
  const options = isObject(given) && Object.hasOwn(given, field) ? given[field] : undefined
  if (!isObject(options)) return {}
  const { name, short, env, hidden } = options
  return {
    ...(typeof name === 'string' && { name }),
    ...(typeof short === 'string' && /^[A-Za-z]$/.test(short) && { short }),
    ...(typeof env === 'string' && /^[A-Za-z_]\w*$/.test(env) && { env }),
    ...(hidden === true && { hidden }),
  }
}

function isTypeable(long: string): boolean {
  return long.length <= 100 && /^[\p{L}\p{N}][\p{L}\p{N}_-]*$/u.test(long)
}

// A list takes all that follows, and nothing that is required can stand behind what may be left out.
function tamePositional(
  given: unknown,
  kinds: ReadonlyMap<string, { readonly kind: string; readonly default?: unknown }>,
  required: ReadonlySet<string>,
): string[] {
  const wanted = Array.isArray(given)
    ? [
        ...new Set(
          given.filter((field): field is string => typeof field === 'string' && kinds.has(field)),
        ),
      ]
    : []
  const positional: string[] = []
  let mayBeAbsent = false
  for (const field of wanted) {
    const isRequired = required.has(field) && !Object.hasOwn(kinds.get(field)!, 'default')
    if (isRequired && mayBeAbsent) continue
    mayBeAbsent ||= !isRequired
    positional.push(field)
    if (kinds.get(field)!.kind === 'list') break
  }
  return positional
}
