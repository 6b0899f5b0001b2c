import type { Schema as CfworkerSchema } from '@cfworker/json-schema'
import type { JsonSchema } from '../../contract/json.ts'
import type { FormatTests } from './found.ts'
import { alignPath } from './value-path.ts'
import type { Path } from './value-path.ts'
import { eachSubschema, mapSubschemas } from './subschemas.ts'
import type { AnySchema } from './subschemas.ts'

export type Unit = { readonly path: Path; readonly keyword: string; readonly message: string }

/** Decides about values; `validate` gives nothing for a valid one. */
export type PlainValidator = {
  readonly formats: FormatTests
  validate(value: unknown): readonly Unit[]
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ['not', 'is what the schema excludes'],
  ['oneOf', 'fits more than one of the allowed forms'],
  ['false', 'is not allowed'],
  ['false schema', 'is not allowed'],
  ['contains', 'must have an item of the required kind'],
  ['minContains', 'has too few items of the required kind'],
  ['maxContains', 'has too many items of the required kind'],
])
const WRAPPERS = new Set([
  'properties',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'items',
  'prefixItems',
  'additionalItems',
  '$ref',
  '$recursiveRef',
  '$dynamicRef',
  'allOf',
  'anyOf',
  'if',
  'dependentSchemas',
  'propertyNames',
])

const MOST_UNITS = 1000

/** Loads the validator that the schema needs. Late, because it is on the way of every program and most never check plain JSON Schema. */
export async function loadValidator(schema: JsonSchema): Promise<PlainValidator> {
  const { Validator, format } = await import('@cfworker/json-schema')
  const formats = format as FormatTests
  if (usesDynamicScope(schema)) return await loadAjv(schema, formats)
  // A copy of its own: the validator writes hidden properties into the schema, and reads `id` and unknown keywords as schema.
  const prepared = prepare(schema) as CfworkerSchema
  const thorough = new Validator(prepared, '2020-12', false)
  const brief = new Validator(prepared, '2020-12', true)
  return {
    formats,
    validate(value) {
      // Most values are valid, and the brief validator stops at the first fault; the thorough one overflows on very many faults.
      const first = brief.validate(value)
      if (first.valid) return []
      const units = attempt(() => thorough.validate(value).errors) ?? first.errors
      return units
        .slice(0, MOST_UNITS)
        .map((unit) => ({
          path: alignPath(decodePointer(unit.instanceLocation), value),
          keyword: unit.keyword,
          message: WORDS.get(unit.keyword) ?? unit.error,
        }))
    },
  }
}

/** The units that say something by themselves, without those that only point to others. */
export function withoutWrappers(units: readonly Unit[]): readonly Unit[] {
  const own = units.filter((unit) => !WRAPPERS.has(unit.keyword))
  return own.length > 0 ? own : units
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}

async function loadAjv(schema: JsonSchema, formats: FormatTests): Promise<PlainValidator> {
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    logger: false,
    formats: { ...formats },
  })
  const validate = ajv.compile(prepare(schema))
  return {
    formats,
    validate: (value) => {
      if (validate(value)) return []
      return (validate.errors ?? [])
        .slice(0, MOST_UNITS)
        .map((error) => ({
          path: alignPath(decodePointer(error.instancePath), value),
          keyword: error.keyword,
          message: WORDS.get(error.keyword) ?? error.message ?? 'is not valid',
        }))
    },
  }
}

function usesDynamicScope(schema: AnySchema): boolean {
  if (typeof schema === 'boolean') return false
  let found = Object.hasOwn(schema, '$dynamicRef') || Object.hasOwn(schema, '$dynamicAnchor')
  eachSubschema(schema, (subschema) => {
    found ||= usesDynamicScope(subschema)
  })
  return found
}

function prepare(schema: JsonSchema): JsonSchema {
  const copy = mapSubschemas(schema, (subschema) =>
    typeof subschema === 'boolean' ? subschema : prepare(subschema),
  )
  return Object.fromEntries(
    Object.entries(copy).filter(
      ([keyword]) =>
        !['id', 'default', 'examples', 'example'].includes(keyword) &&
        !keyword.startsWith('x-toolable-'),
    ),
  )
}

function decodePointer(pointer: string): string[] {
  const decode = pointer.startsWith('#') ? decodeURIComponent : (text: string) => text
  return pointer
    .split('/')
    .slice(1)
    .map((part) => decode(part).replaceAll('~1', '/').replaceAll('~0', '~'))
}
