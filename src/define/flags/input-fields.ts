import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { alternatives } from './unwrap-schema.ts'

/** The fields of an input schema, whatever it is composed of, each readable on its own. */
export type InputFields = {
  readonly properties: ReadonlyMap<string, JsonSchema>
  readonly required: ReadonlySet<string>
}

/** Fields of an object schema without `$ref`. Of a union, the fields of all branches, and required is what every branch requires. */
export function inputFields(schema: JsonSchema): InputFields {
  const properties = new Map<string, JsonSchema>()
  if (isObject(schema.properties)) {
    for (const [field, inner] of Object.entries(schema.properties))
      if (inner !== false) properties.set(field, isObject(inner) ? inner : {})
  }
  const required = new Set<string>(
    Array.isArray(schema.required)
      ? schema.required.filter((name) => typeof name === 'string')
      : [],
  )
  for (const part of Array.isArray(schema.allOf) ? schema.allOf.filter(isObject) : []) {
    const fields = inputFields(part)
    for (const [field, inner] of fields.properties)
      if (!properties.has(field)) properties.set(field, inner)
    for (const field of fields.required) required.add(field)
  }
  const branches = (alternatives(schema)[1] ?? []).map(inputFields)
  for (const [field, inner] of mergeBranches(branches))
    if (!properties.has(field)) properties.set(field, inner)
  for (const field of branches[0]?.required ?? [])
    if (branches.every((branch) => branch.required.has(field))) required.add(field)
  return { properties, required }
}

function mergeBranches(branches: readonly InputFields[]): Map<string, JsonSchema> {
  const merged = new Map<string, JsonSchema[]>()
  for (const { properties } of branches) {
    for (const [field, schema] of properties) {
      const known = merged.get(field) ?? []
      if (!known.some((other) => JSON.stringify(other) === JSON.stringify(schema)))
        merged.set(field, [...known, schema])
    }
  }
  return new Map(
    [...merged].map(([field, schemas]) => [
      field,
      schemas.length === 1 ? schemas[0]! : { ...describe(schemas), anyOf: schemas },
    ]),
  )
}

function describe(schemas: readonly JsonSchema[]): JsonSchema {
  const description = schemas.find((schema) => typeof schema.description === 'string')?.description
  return description === undefined ? {} : { description }
}
