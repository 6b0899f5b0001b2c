import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { isPrepared } from '../../contract/prepared.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { LazySchema, SchemaSource, StandardSchema, TypedJsonSchema } from './schema.ts'
import { adviseWrapping } from './vendors.ts'

/** What an author may give as a schema, as advice. */
export const WHAT_TO_GIVE =
  "Give a schema of zod (z.object({...})), arktype or wrapped valibot, or plain JSON Schema ({ type: 'object', properties: {...} })"

/** The schema behind a thunk, which is called once; a schema itself is given back. */
export function resolveSchema(lazy: LazySchema): SchemaSource {
  if (!isThunk(lazy)) return lazy
  const known = resolved.get(lazy)
  if (known !== undefined) return known
  const source = lazy()
  resolved.set(lazy, source)
  return source
}

/** True for a function that gives a schema. Schemas of some libraries are functions too. */
export function isThunk(lazy: LazySchema): lazy is () => SchemaSource {
  return typeof lazy === 'function' && !isStandard(lazy)
}

/** True for a schema that is not looked at before somebody needs it: a thunk, and one that a build has prepared. */
export function isLate(lazy: LazySchema): boolean {
  return isThunk(lazy) || isPrepared(lazy)
}

/** Plain JSON Schema that carries the type of its values for the compiler. */
export function jsonSchema<T>(schema: JsonSchema): TypedJsonSchema<T> {
  return schema
}

/** A schema told apart by its kind. Throws CONFIG, with the way out, for what is no usable schema. */
export function readSource(
  source: unknown,
): { readonly standard: StandardSchema } | { readonly plain: JsonSchema } {
  return isStandard(source)
    ? { standard: requireJsonSchema(source) }
    : { plain: requirePlain(source) }
}

const resolved = new WeakMap<object, SchemaSource>()

function isStandard(source: unknown): source is StandardSchema {
  return (
    ((typeof source === 'object' && source !== null) || typeof source === 'function') &&
    isObject((source as { '~standard'?: unknown })['~standard'])
  )
}

function requireJsonSchema(source: StandardSchema): StandardSchema {
  const {
    vendor,
    validate,
    jsonSchema: converter,
  } = source['~standard'] as { vendor?: unknown; validate?: unknown; jsonSchema?: unknown }
  if (typeof validate === 'function' && isObject(converter)) return source
  const name = typeof vendor === 'string' ? vendor : 'the library'
  throw new ToolError('CONFIG', `this ${name} schema cannot give its JSON Schema`, {
    suggestion: adviseWrapping(name),
  })
}

function requirePlain(source: unknown): JsonSchema {
  if (!isObject(source) || typeof source['then'] === 'function') {
    throw new ToolError(
      'CONFIG',
      `${isObject(source) ? 'a promise' : showSource(source)} is not a schema`,
      { suggestion: WHAT_TO_GIVE },
    )
  }
  const shape = Object.keys(source).find((key) => isStandard(source[key]))
  if (shape !== undefined) {
    throw new ToolError(
      'CONFIG',
      `the schema is an object of schemas ('${shape}' is one), not a schema`,
      { suggestion: 'Wrap the fields: z.object({...})' },
    )
  }
  return source
}

function showSource(source: unknown): string {
  return typeof source === 'function'
    ? 'a function'
    : Array.isArray(source)
      ? 'a list'
      : (JSON.stringify(source) ?? String(source)).slice(0, 80)
}
