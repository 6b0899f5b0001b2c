import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { compilePlain } from './plain.ts'
import { WHAT_TO_GIVE } from './object-schema.ts'
import type { LazySchema, Schema, SchemaSource, StandardSchema, TypedJsonSchema } from './schema.ts'
import { compileStandard } from './standard.ts'
import { adviseWrapping } from './vendors.ts'
import { showValue } from './words.ts'

/** Makes a schema of any kind ready for use. Throws CONFIG, with the way out, for what is no usable schema; an input has to be an object. */
export function compileSchema(source: SchemaSource, direction: 'input' | 'output'): Schema {
  return isStandard(source) ? compileStandard(requireJsonSchema(source), direction) : compilePlain(requirePlain(source), direction)
}

/** The schema behind a thunk, which is called once; a schema itself is given back. */
export function resolveSchema(lazy: LazySchema): SchemaSource {
  if (!isThunk(lazy)) return lazy
  const known = resolved.get(lazy)
  if (known !== undefined) return known
  const source = lazy()
  resolved.set(lazy, source)
  return source
}

/** Plain JSON Schema that carries the type of its values for the compiler. */
export function jsonSchema<T>(schema: JsonSchema): TypedJsonSchema<T> {
  return schema
}

/** True for a function that gives a schema. Schemas of some libraries are functions too. */
export function isThunk(lazy: LazySchema): lazy is () => SchemaSource {
  return typeof lazy === 'function' && !isStandard(lazy)
}

const resolved = new WeakMap<object, SchemaSource>()

function isStandard(source: unknown): source is { readonly '~standard': object } {
  return ((typeof source === 'object' && source !== null) || typeof source === 'function') && isObject((source as { '~standard'?: unknown })['~standard'])
}

function requireJsonSchema(source: object): StandardSchema {
  const { vendor, validate, jsonSchema: converter } = (source as { '~standard': { vendor?: unknown; validate?: unknown; jsonSchema?: unknown } })['~standard']
  if (typeof validate === 'function' && isObject(converter)) return source as StandardSchema
  const name = typeof vendor === 'string' ? vendor : 'the library'
  throw new ToolError('CONFIG', `this ${name} schema cannot give its JSON Schema`, { suggestion: adviseWrapping(name) })
}

function requirePlain(source: unknown): JsonSchema {
  if (!isObject(source) || typeof source['then'] === 'function') {
    throw new ToolError('CONFIG', `${source instanceof Promise ? 'a promise' : showValue(source)} is not a schema`, { suggestion: WHAT_TO_GIVE })
  }
  const shape = Object.keys(source).find((key) => isStandard(source[key]))
  if (shape !== undefined) {
    throw new ToolError('CONFIG', `the schema is an object of schemas ('${shape}' is one), not a schema`, { suggestion: 'Wrap the fields: z.object({...})' })
  }
  return source
}
