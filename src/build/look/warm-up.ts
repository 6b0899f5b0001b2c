import type { JsonSchema } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { flagName } from '../../define/flags/flag-name.ts'
import type { ToolEntry } from '../../call/collect.ts'
import type { Servable } from '../../call/servable.ts'
import type { TakenProgram } from '../../surfaces/cli/run.ts'

/** What a build runs of a program, and the command lines for it, to learn what its calls load: those that the program names itself, else made up ones of a program that does nothing. The last one is like most calls. */
export function rehearsalOf({ set, rehearsal }: Pick<TakenProgram, 'set' | 'rehearsal'>): {
  readonly shown: Servable
  readonly lines: readonly (readonly string[])[]
} {
  if (rehearsal) return { shown: set, lines: rehearsal }
  const { json = ['--version'], flags } = commandLines(set)
  return { shown: withoutWork(set), lines: [...(flags ? [flags] : []), json] }
}

// A program like the one that is built, whose tools do nothing: a build may run it.
function withoutWork(set: Servable): Servable {
  const entries = set.entries.map((entry): ToolEntry => ({
    ...entry,
    definition: {
      ...entry.definition,
      hooks: {},
      annotations: {},
      source: { ...entry.definition.source, output: undefined },
      run: () => null,
    },
  }))
  return Object.create(set, {
    entries: { value: entries },
    find: { value: (name: string) => entries.find((entry) => entry.name === name) },
  }) as Servable
}

// They call a tool of the program by JSON and by flags: what that loads is what most calls load. Empty where no tool has an input that can be made up.
function commandLines(set: Servable): {
  readonly json?: readonly string[]
  readonly flags?: readonly string[]
} {
  for (const { path, definition } of set.entries) {
    const schema = definition.sketch()?.inputSchema
    const input = schema && makeUp(schema)
    if (!isObject(input) || !definition.accept(input)) continue
    const words = set.entries.length === 1 ? [] : path
    const flags = Object.entries(input).flatMap(([field, value]) =>
      ['string', 'number'].includes(typeof value) ? [`--${flagName(field)}`, String(value)] : [],
    )
    return { json: [...words, JSON.stringify(input)], flags: [...words, ...flags] }
  }
  return {}
}

function makeUp(schema: unknown): unknown {
  if (!isObject(schema)) return undefined
  if (Object.hasOwn(schema, 'default')) return schema['default']
  if (Array.isArray(schema['enum'])) return (schema['enum'] as readonly unknown[])[0]
  if (Object.hasOwn(schema, 'const')) return schema['const']
  return Object.hasOwn(MAKERS, String(schema['type']))
    ? MAKERS[String(schema['type'])]!(schema)
    : undefined
}

const MAKERS: { readonly [type: string]: (schema: JsonSchema) => unknown } = {
  string: ({ minLength }) => 'x'.repeat(Math.max(1, Math.min(1000, Number(minLength ?? 1)))),
  number: (schema) => makeNumber(schema),
  integer: (schema) => makeNumber(schema),
  boolean: () => true,
  array: ({ items, minItems }) =>
    Array.from({ length: Math.min(100, Number(minItems ?? 0)) }, () => makeUp(items)),
  object: ({ properties, required }) =>
    Object.fromEntries(
      (Array.isArray(required) ? required : []).map((field: string) => [
        field,
        makeUp(isObject(properties) ? properties[field] : undefined),
      ]),
    ),
}

function makeNumber({ minimum, maximum, exclusiveMinimum }: JsonSchema): number {
  const least = Math.max(
    Number(minimum ?? -Infinity),
    exclusiveMinimum === undefined ? -Infinity : Number(exclusiveMinimum) + 1,
  )
  return Number.isFinite(least) && least > -1e15 ? least : Math.min(1, Number(maximum ?? 1))
}
