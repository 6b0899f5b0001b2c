import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'

/** One input of the orchestration manifest. */
export type DescribedInput = {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly description?: string
}

/** The fields of an input schema as a flat list; what is inside a field stays with the schema. */
export function describeInputs(schema: JsonSchema): readonly DescribedInput[] {
  if (!isObject(schema.properties)) return []
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(schema.properties).map(([name, field]) => ({
    name,
    type: typeOf(field),
    required: required.includes(name),
    ...(isObject(field) &&
      typeof field.description === 'string' && { description: field.description }),
  }))
}

function typeOf(schema: unknown): string {
  if (!isObject(schema)) return 'any'
  const types = [schema.type]
    .flat()
    .filter((type): type is string => typeof type === 'string' && type !== 'null')
  if (types.length === 1)
    return types[0] === 'string' && schema.format === 'path' ? 'path' : types[0]!
  if (types.length > 1) return 'any'
  const values = Array.isArray(schema.enum)
    ? schema.enum
    : Object.hasOwn(schema, 'const')
      ? [schema.const]
      : []
  const branches = [schema.anyOf, schema.oneOf].filter(Array.isArray).flat()
  return onlyOne([
    ...values.filter((value) => value !== null).map(typeOfValue),
    ...branches.filter((branch) => !isNull(branch)).map(typeOf),
  ])
}

function onlyOne(types: readonly string[]): string {
  const [first = 'any', ...others] = new Set(types)
  return others.length === 0 ? first : 'any'
}

function isNull(schema: unknown): boolean {
  return isObject(schema) && schema.type === 'null'
}

function typeOfValue(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'number') : typeof value
}
