type Schema = { readonly [keyword: string]: unknown }

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const members = (schema: Schema): [string, Schema][] =>
  isObject(schema['properties']) ? (Object.entries(schema['properties']) as [string, Schema][]) : []
const parts = (schema: Schema): Schema[] => [
  ...members(schema).map(([, inner]) => inner),
  ...['items', 'additionalProperties'].map((keyword) => schema[keyword]).filter(isObject),
  ...['anyOf', 'oneOf', 'allOf'].flatMap(
    (keyword) => (schema[keyword] as Schema[] | undefined) ?? [],
  ),
]
const nodes = (schema: Schema): Schema[] => [schema, ...parts(schema).flatMap(nodes)]
const depth = (schema: Schema): number =>
  1 +
  Math.max(
    0,
    ...members(schema).map(([, inner]) => depth(inner)),
    ...(isObject(schema['items']) ? [depth(schema['items'])] : []),
    ...((schema['anyOf'] as Schema[] | undefined) ?? []).map((inner) => depth(inner) - 1),
  )
const unknown = (schema: Schema, known: readonly string[]): string[] =>
  Object.keys(schema).filter((keyword) => !known.includes(keyword))

const ROOT = ['oneOf', 'anyOf', 'allOf', 'enum', 'const', 'not', '$ref']
const root = (schema: Schema): string[] => [
  ...(schema['type'] === 'object' ? [] : ['the root is no object']),
  ...ROOT.filter((keyword) => keyword in schema).map((keyword) => `${keyword} at the root`),
]
const everywhere = (schema: Schema, rule: (node: Schema) => (string | false)[]): string[] =>
  nodes(schema)
    .flatMap(rule)
    .filter((problem) => problem !== false)
const common = (node: Schema): (string | false)[] => [
  '$ref' in node && '$ref',
  '$defs' in node && '$defs',
  'allOf' in node && 'allOf',
  Array.isArray(node['type']) && 'a list of types',
  node['type'] === 'array' && !isObject(node['items']) && 'a list without items',
  Array.isArray(node['required']) &&
    node['required'].some((key) => !Object.hasOwn(node['properties'] as object, key as string)) &&
    'required without property',
]
const STRICT = [
  'type',
  'description',
  'enum',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'anyOf',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'pattern',
  'format',
]
const GEMINI = [
  'type',
  'description',
  'nullable',
  'enum',
  'format',
  'properties',
  'required',
  'items',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
  'minimum',
  'maximum',
  'pattern',
  'anyOf',
]

/**
 * What is wrong with the parameters of a function for a provider, by its own documentation; written
 * without looking at the code that makes them.
 */
export const providerProblems = {
  openai: (schema: Schema) => [
    ...root(schema),
    ...everywhere(schema, (node) => [
      ...common(node),
      node['type'] === 'object' && !isObject(node['properties']) && 'an object without properties',
    ]),
  ],
  strict: (schema: Schema) => [
    ...root(schema),
    ...(depth(schema) > 10 ? ['too deep'] : []),
    ...everywhere(schema, (node) => [
      ...common(node),
      ...unknown(node, STRICT),
      typeof node['type'] !== 'string' && !Array.isArray(node['anyOf']) && 'no type',
      node['type'] === 'object' && node['additionalProperties'] !== false && 'an open object',
      node['type'] === 'object' &&
        JSON.stringify([...(node['required'] as string[])].sort()) !==
          JSON.stringify(
            members(node)
              .map(([key]) => key)
              .sort(),
          ) &&
        'not all required',
    ]),
  ],
  anthropic: (schema: Schema) => [
    ...root(schema),
    ...everywhere(schema, (node) => [
      ...common(node),
      ...members(node).map(([key]) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key) && `the field ${key}`),
    ]),
  ],
  gemini: (schema: Schema) => [
    ...(schema['type'] === 'OBJECT' ? [] : ['the root is no object']),
    ...everywhere(schema, (node) => [
      ...unknown(node, GEMINI),
      'anyOf' in node
        ? Object.keys(node).length > 1 && 'something beside anyOf'
        : !['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT'].includes(
            node['type'] as string,
          ) && `the type ${String(node['type'])}`,
      node['type'] === 'ARRAY' && !isObject(node['items']) && 'a list without items',
      'properties' in node && members(node).length === 0 && 'no properties',
      'enum' in node &&
        (node['type'] !== 'STRING' ||
          (node['enum'] as unknown[]).some((value) => typeof value !== 'string' || value === '')) &&
        'an enum that is not of text',
      ...members(node).map(
        ([key]) => !/^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/.test(key) && `the field ${key}`,
      ),
      Array.isArray(node['required']) &&
        node['required'].some((key) => !members(node).some(([own]) => own === key)) &&
        'required without property',
    ]),
  ],
}
