import type { JsonSchema } from '../../contract/json.ts'

const WORDS: { readonly [type: string]: readonly string[] } = {
  string: [
    'string',
    'str',
    'text',
    'char',
    'varchar',
    'unicode',
    'uuid',
    'email',
    'url',
    'uri',
    'secret',
    'password',
    'bytes',
  ],
  integer: [
    'integer',
    'int',
    'int32',
    'int64',
    'long',
    'short',
    'uint',
    'uint32',
    'uint64',
    'bigint',
  ],
  number: [
    'number',
    'float',
    'double',
    'decimal',
    'real',
    'numeric',
    'float32',
    'float64',
    'f32',
    'f64',
  ],
  boolean: ['boolean', 'bool', 'flag'],
  object: ['object', 'dict', 'map', 'hash', 'struct', 'record', 'mapping', 'json'],
  array: ['array', 'list', 'tuple', 'set', 'sequence', 'vector'],
  null: ['null', 'none', 'nonetype', 'nil', 'void'],
}
const FORMATS: { readonly [word: string]: string } = {
  date: 'date',
  datetime: 'date-time',
  timestamp: 'date-time',
  path: 'path',
  file: 'path',
  filename: 'path',
  filepath: 'path',
  directory: 'path',
  folder: 'path',
}
const BY_WORD: ReadonlyMap<string, string> = new Map(
  Object.entries(WORDS).flatMap(([type, words]) => words.map((word) => [word, type] as const)),
)

/** What the name of a type means, in the words of many languages: `int`, `Optional[str]`, `List[int]`, `string[]`, `dict`; undefined when nobody knows. An empty schema means any. */
export function readTypeWord(given: string, depth = 0): JsonSchema | undefined {
  const word = given.trim().toLowerCase()
  if (depth > 4 || word.length > 100) return undefined
  if (word === 'any' || word === 'mixed' || word === 'unknown' || word === 'typing.any') return {}
  const type = BY_WORD.get(word)
  if (type !== undefined) return { type }
  if (Object.hasOwn(FORMATS, word)) return { type: 'string', format: FORMATS[word] }
  if (word.endsWith('[]')) return listOf(word.slice(0, -2), depth)
  const [, outer = '', inner = ''] = /^(?:typing\.)?([a-z]+)[[<](.*)[\]>]$/.exec(word) ?? []
  if (outer === 'optional') return orNull(readTypeWord(inner, depth + 1))
  if (BY_WORD.get(outer) === 'array') return listOf(inner, depth)
  return BY_WORD.get(outer) === 'object' ? { type: 'object' } : undefined
}

function listOf(inner: string, depth: number): JsonSchema {
  return { type: 'array', items: readTypeWord(inner, depth + 1) ?? {} }
}

function orNull(schema: JsonSchema | undefined): JsonSchema | undefined {
  if (!schema || typeof schema['type'] !== 'string') return schema
  return { ...schema, type: [schema['type'], 'null'] }
}
