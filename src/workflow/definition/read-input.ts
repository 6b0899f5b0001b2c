import type { KeyPath } from '../../contract/documents/document.ts'
import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { unknownName } from '../../contract/unknown-name.ts'
import { shown } from './definition-reader.ts'
import type { DefinitionReader } from './definition-reader.ts'

const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'any']
const SCHEMA_KEYS = ['properties', '$ref', 'allOf', 'anyOf', 'oneOf', '$schema']

/** The JSON Schema of a workflow's input: as it stands there, or made of its fields in short. */
export function readInput(
  reader: DefinitionReader,
  value: unknown,
  path: KeyPath,
): JsonSchema | undefined {
  if (!isObject(value))
    return reader.find(
      path,
      `'input' must be a JSON Schema, or the fields in short; got ${shown(value)}`,
      'Write input: {root: string, limit: integer?}',
    )
  const schema = reader.value(value, path).value as JsonSchema
  return isSchema(value) ? schema : fieldsOf(reader, schema, path)
}

// A field in short is a text or an object with its type; these keys of a schema hold other things.
function isSchema(value: { readonly [key: string]: unknown }): boolean {
  return (
    value['type'] === 'object' ||
    SCHEMA_KEYS.some((key) =>
      key === '$schema' || key === '$ref'
        ? typeof value[key] === 'string'
        : key === 'properties'
          ? isObject(value[key]) && value[key]['type'] === undefined
          : Array.isArray(value[key]),
    )
  )
}

function fieldsOf(reader: DefinitionReader, fields: JsonSchema, path: KeyPath): JsonSchema {
  const read = Object.entries(fields).map(([name, field]) => ({
    name,
    ...readField(reader, field, [...path, name]),
  }))
  const required = read.filter((field) => field.required).map(({ name }) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(read.map(({ name, schema }) => [name, schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

function readField(
  reader: DefinitionReader,
  field: unknown,
  path: KeyPath,
): { readonly schema: JsonSchema; readonly required: boolean } {
  if (typeof field === 'string') return readShort(reader, field, path)
  if (!isObject(field)) {
    reader.find(
      path,
      `a field of the input must be a type or a schema; got ${shown(field)}`,
      `The types are ${TYPES.join(', ')}`,
    )
    return { schema: {}, required: false }
  }
  const { required, ...schema } = field
  // In a schema of an object `required` is a list, and stays.
  if (required !== undefined && typeof required !== 'boolean')
    return { schema: field, required: true }
  return { schema, required: required ?? !Object.hasOwn(schema, 'default') }
}

function readShort(
  reader: DefinitionReader,
  text: string,
  path: KeyPath,
): { readonly schema: JsonSchema; readonly required: boolean } {
  const [, type = text, list = '', optional = ''] = /^(\w+)(\[\])?(\?)?$/.exec(text.trim()) ?? []
  if (!TYPES.includes(type))
    reader.find(
      path,
      unknownName('type', text, TYPES).message,
      `The types are ${TYPES.join(', ')}; string[] is a list of texts, and string? may be left out`,
    )
  const one = type === 'any' ? {} : { type }
  return { schema: list === '' ? one : { type: 'array', items: one }, required: optional === '' }
}
