import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'

/** The schema without its `null` alternative, so that an optional value looks like the value; annotations outside win. */
export function unwrapNullable(schema: JsonSchema): JsonSchema {
  const [union, branches] = alternatives(schema)
  if (union && branches) {
    const kept = branches.filter((branch) => branch.type !== 'null' && branch.const !== null)
    const { [union]: _, ...outside } = schema
    if (kept.length === 1) return unwrapNullable({ ...kept[0], ...outside })
    return kept.length === branches.length ? schema : { ...outside, [union]: kept }
  }
  if (Array.isArray(schema.allOf) && schema.allOf.length === 1 && isObject(schema.allOf[0])) {
    const {
      allOf: [only],
      ...outside
    } = schema as JsonSchema & { allOf: [JsonSchema] }
    return unwrapNullable({ ...only, ...outside })
  }
  const types = Array.isArray(schema.type)
    ? schema.type.filter((type) => type !== 'null')
    : undefined
  return {
    ...schema,
    ...(types && { type: types.length === 1 ? types[0] : types }),
    ...(Array.isArray(schema.enum) && { enum: schema.enum.filter((value) => value !== null) }),
  }
}

/** The branches of a union, with the keyword that holds them. */
export function alternatives(
  schema: JsonSchema,
): readonly ['anyOf' | 'oneOf', readonly JsonSchema[]] | readonly [] {
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const branches = schema[keyword]
    if (Array.isArray(branches) && branches.length > 0)
      return [keyword, branches.map((branch) => (isObject(branch) ? branch : {}))]
  }
  return []
}
