import { isObject } from '../../contract/json.ts'
import type { JsonObject, JsonSchema } from '../../contract/json.ts'
import { mapSubschemas } from '../../define/schema/subschemas.ts'
import type { AnySchema } from '../../define/schema/subschemas.ts'
import { lookUp } from './pointers.ts'

const DEEPEST = 64
const FOREIGN_WORDS = ['discriminator', 'xml', 'externalDocs', 'example'] as const

/** Makes JSON Schemas out of those of a document: references lead to `$defs` of the same schema, and the words of OpenAPI 3.0 become those of JSON Schema. */
export type SchemaReader = {
  /** Reads one schema; what it refers to is gathered in `definitions`. */
  read(schema: unknown): JsonSchema
  definitions(): { readonly $defs?: JsonObject }
}

/** Starts with nothing gathered. `lost` is told of references that lead nowhere. */
export function schemaReader(document: JsonObject, lost: (ref: string) => void): SchemaReader {
  const isOld = String(document['openapi']).startsWith('3.0')
  const names = new Map<string, string>()
  const defs: { [name: string]: AnySchema } = Object.create(null) as {}

  const refer = (ref: string): JsonSchema => {
    const known = names.get(ref)
    if (known !== undefined) return { $ref: `#/$defs/${known}` }
    const target = lookUp(document, ref)
    if (!isObject(target) && typeof target !== 'boolean') {
      lost(ref)
      return {}
    }
    const name = freeName(ref, defs)
    names.set(ref, name)
    // Reserved before it is read, because it may refer to itself.
    defs[name] = true
    defs[name] = typeof target === 'boolean' ? target : convert(target, 0)
    return { $ref: `#/$defs/${name}` }
  }

  const convert = (schema: JsonObject, depth: number): JsonSchema => {
    if (depth > DEEPEST) return {}
    const ref = Object.hasOwn(schema, '$ref') ? schema['$ref'] : undefined
    if (typeof ref === 'string' && isOld) return refer(ref)
    const copy: Record<string, unknown> = {
      ...mapSubschemas(withoutReadOnly(schema), (subschema) =>
        typeof subschema === 'boolean' ? subschema : convert(subschema, depth + 1),
      ),
    }
    for (const word of FOREIGN_WORDS) delete copy[word]
    if (isOld) modernise(copy)
    if (typeof ref !== 'string') return copy
    delete copy['$ref']
    const target = refer(ref)
    return Object.keys(copy).length === 0 ? target : { ...copy, ...target }
  }

  return {
    read: (schema) => (isObject(schema) ? convert(schema, 0) : {}),
    definitions: () => (Object.keys(defs).length === 0 ? {} : { $defs: { ...defs } }),
  }
}

// What a server alone decides is not asked of the caller.
function withoutReadOnly(schema: JsonObject): JsonObject {
  const { properties, required } = schema
  if (!isObject(properties)) return schema
  const hidden = new Set(
    Object.entries(properties).flatMap(([name, property]) =>
      isObject(property) && property['readOnly'] === true ? [name] : [],
    ),
  )
  if (hidden.size === 0) return schema
  return {
    ...schema,
    properties: Object.fromEntries(
      Object.entries(properties).filter(([name]) => !hidden.has(name)),
    ),
    ...(Array.isArray(required) && {
      required: required.filter((name) => !hidden.has(String(name))),
    }),
  }
}

function modernise(schema: Record<string, unknown>): void {
  for (const [exclusive, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof schema[exclusive] !== 'boolean') continue
    if (schema[exclusive]) {
      schema[exclusive] = schema[limit]
      delete schema[limit]
    } else delete schema[exclusive]
  }
  const { nullable } = schema
  delete schema['nullable']
  if (nullable !== true) return
  if (typeof schema['type'] === 'string') schema['type'] = [schema['type'], 'null']
  if (Array.isArray(schema['enum']) && !schema['enum'].includes(null))
    schema['enum'] = [...(schema['enum'] as unknown[]), null]
}

function freeName(ref: string, taken: object): string {
  const plain = ref.slice(ref.lastIndexOf('/') + 1).replace(/[^A-Za-z0-9_.-]+/g, '_') || 'schema'
  let name = plain
  for (let count = 2; Object.hasOwn(taken, name); count += 1) name = `${plain}_${count}`
  return name
}
