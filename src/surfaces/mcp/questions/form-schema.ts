import { isObject } from '../../../contract/json.ts'
import type { JsonSchema } from '../../../contract/json.ts'

/** A form as clients can show it. */
export type FormSchema = {
  readonly type: 'object'
  readonly properties: { readonly [name: string]: object }
  readonly required: readonly string[]
}

const WORDS = ['title', 'description'] as const
const FORMATS: readonly unknown[] = ['email', 'uri', 'date', 'date-time']

/** A schema of objects as a form of one level; undefined when it has more than texts, numbers, booleans, and choices of texts. */
export function formOfObject({ type, properties, required }: JsonSchema): FormSchema | undefined {
  if (type !== 'object' || !isObject(properties)) return undefined
  const fields = Object.entries(properties).map(
    ([name, property]) => [name, isObject(property) ? fieldOf(property) : undefined] as const,
  )
  if (fields.some(([, field]) => field === undefined)) return undefined
  return {
    type,
    properties: Object.fromEntries(fields) as { readonly [name: string]: object },
    required: Array.isArray(required) ? (required as readonly string[]) : [],
  }
}

/** A schema as one field of a form, with nothing but what the protocol knows: clients refuse the rest, and answers are checked here anyway. */
export function fieldOf(schema: JsonSchema): object | undefined {
  const { type } = schema
  if (type === 'boolean')
    return { type, ...pick(schema, [...WORDS]), ...defaultOf(schema, 'boolean') }
  if (type === 'number' || type === 'integer')
    return {
      type,
      ...pick(schema, [...WORDS, 'minimum', 'maximum']),
      ...defaultOf(schema, 'number'),
    }
  if (type === 'string')
    return {
      type,
      ...pick(schema, [...WORDS]),
      ...(choiceOf(schema) ?? textLimits(schema)),
      ...defaultOf(schema, 'string'),
    }
  if (type === 'array' && isObject(schema['items'])) {
    const choice = multipleChoiceOf(schema['items'])
    return (
      choice && {
        type,
        ...pick(schema, [...WORDS, 'minItems', 'maxItems', 'default']),
        items: choice,
      }
    )
  }
  return undefined
}

function choiceOf(schema: JsonSchema): object | undefined {
  if (isTexts(schema['enum'])) return pick(schema, ['enum', 'enumNames'])
  return isTitled(schema['oneOf']) ? { oneOf: schema['oneOf'] } : undefined
}

function multipleChoiceOf(items: JsonSchema): object | undefined {
  if (isTexts(items['enum'])) return { type: 'string', enum: items['enum'] }
  return isTitled(items['anyOf']) ? { anyOf: items['anyOf'] } : undefined
}

function textLimits(schema: JsonSchema): object {
  return pick(schema, [
    'minLength',
    'maxLength',
    ...(FORMATS.includes(schema['format']) ? ['format'] : []),
  ])
}

function defaultOf(
  { default: byDefault }: JsonSchema,
  type: 'string' | 'number' | 'boolean',
): object {
  return typeof byDefault === type ? { default: byDefault } : {}
}

function pick(schema: JsonSchema, names: readonly string[]): object {
  return Object.fromEntries(
    names.filter((name) => schema[name] !== undefined).map((name) => [name, schema[name]]),
  )
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isTitled(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (item) =>
        isObject(item) && typeof item['const'] === 'string' && typeof item['title'] === 'string',
    )
  )
}
