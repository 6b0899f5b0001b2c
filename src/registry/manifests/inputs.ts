import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { own } from './facts.ts'
import type { Reading } from '../../contract/documents/reading.ts'
import { refuse } from '../../contract/documents/reading.ts'

type Data = { readonly [key: string]: unknown }

const TYPES: { readonly [type: string]: JsonSchema } = {
  string: { type: 'string' },
  str: { type: 'string' },
  text: { type: 'string' },
  path: { type: 'string', format: 'path' },
  file: { type: 'string', format: 'path' },
  directory: { type: 'string', format: 'path' },
  integer: { type: 'integer' },
  int: { type: 'integer' },
  number: { type: 'number' },
  float: { type: 'number' },
  boolean: { type: 'boolean' },
  bool: { type: 'boolean' },
  flag: { type: 'boolean' },
  array: { type: 'array' },
  list: { type: 'array' },
  object: { type: 'object', additionalProperties: true },
  json: {},
  any: {},
  enum: {},
}
const FROM_INPUT = [
  'description',
  'default',
  'enum',
  'minimum',
  'maximum',
  'pattern',
  'items',
] as const

/** The schema that a list of inputs means: `- {name: source, type: path, required: true}`. Undefined where no list is given. */
export function schemaOfInputs(inputs: unknown): Reading<JsonSchema> | undefined {
  if (inputs === undefined) return undefined
  if (!Array.isArray(inputs))
    return refuse(
      'manifest',
      "has 'inputs' that are not a list",
      'Write each input as - {name: source, type: path, required: true}',
    )
  const properties: { [name: string]: JsonSchema } = {}
  const required: string[] = []
  for (const input of inputs as readonly unknown[]) {
    const name = isObject(input) ? own(input, 'name') : undefined
    if (!isObject(input) || typeof name !== 'string' || name === '' || name === '__proto__')
      return refuse(
        'manifest',
        'has an input without a name',
        'Write each input as - {name: source, type: path, required: true}',
      )
    if (Object.hasOwn(properties, name))
      return refuse('manifest', `has the input '${name}' twice`, 'Take one of them out')
    const type = own(input, 'type') ?? 'string'
    if (typeof type !== 'string' || !Object.hasOwn(TYPES, type))
      return refuse(
        'manifest',
        `has the input '${name}' of the unknown type ${JSON.stringify(type)?.slice(0, 40)}`,
        `Write one of ${Object.keys(TYPES).join(', ')}`,
      )
    properties[name] = schemaOfInput(input, type)
    if (isTrue(own(input, 'required'))) required.push(name)
  }
  return {
    value: {
      type: 'object',
      properties,
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    },
  }
}

function schemaOfInput(input: Data, type: string): JsonSchema {
  const choices = own(input, 'choices') ?? own(input, 'values')
  const direction = own(input, 'direction')
  return {
    ...TYPES[type],
    ...Object.fromEntries(
      FROM_INPUT.filter((key) => own(input, key) !== undefined).map((key) => [key, input[key]]),
    ),
    ...(Array.isArray(choices) && { enum: choices }),
    ...(TYPES[type]!['format'] === 'path' &&
      (direction === 'in' || direction === 'out' || direction === 'inout') && {
        'x-toolable-path': { direction },
      }),
  }
}

// Older YAML says yes and on, which the present one reads as text.
function isTrue(value: unknown): boolean {
  return value === true || (typeof value === 'string' && /^(true|yes|on)$/i.test(value))
}
