import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { mapSubschemas } from './subschemas.ts'
import { isAnnotation } from './upgrade-keywords.ts'
import { DECODE_MARK } from './decode-mark.ts'

// The patterns that libraries print beside these formats are long and say the same.
const SPEAKING_FORMATS = new Set([
  'email',
  'uri',
  'uuid',
  'date',
  'date-time',
  'time',
  'duration',
  'ipv4',
  'ipv6',
  'hostname',
])

/** The JSON Schema of a library without what only costs tokens: bounds of safe integers, patterns of known formats, keys that must be text. */
export function tidySchema(schema: JsonSchema): JsonSchema {
  const tidy = {
    ...mapSubschemas(schema, (subschema) =>
      typeof subschema === 'boolean' ? subschema : tidySchema(subschema),
    ),
  }
  if (tidy['minimum'] === Number.MIN_SAFE_INTEGER) delete tidy['minimum']
  if (tidy['maximum'] === Number.MAX_SAFE_INTEGER) delete tidy['maximum']
  if (SPEAKING_FORMATS.has(String(tidy['format']))) delete tidy['pattern']
  const names = tidy['propertyNames']
  if (isObject(names) && Object.keys(names).length === 1 && names['type'] === 'string')
    delete tidy['propertyNames']
  return splitTypes(foldLiterals(tidy))
}

/** The schema without our own marks, as callers see it. */
export function removeMarks(schema: JsonSchema): JsonSchema {
  const { [DECODE_MARK]: _mark, ...rest } = mapSubschemas(schema, (subschema) =>
    typeof subschema === 'boolean' ? subschema : removeMarks(subschema),
  )
  return rest
}

// One spelling of "text or null", whichever version of a library wrote it.
function splitTypes({ type, ...rest }: JsonSchema): JsonSchema {
  if (Array.isArray(type) && Object.keys(rest).every(isAnnotation))
    return { anyOf: type.map((each: unknown) => ({ type: each })), ...rest }
  return type === undefined ? rest : { type, ...rest }
}

// A union of literals is an enumeration, and everybody who offers choices looks for one.
function foldLiterals(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || !Object.keys(rest).every(isAnnotation)) return schema
  const literals: unknown[] = []
  for (const branch of anyOf as unknown[]) {
    if (
      !isObject(branch) ||
      !Object.hasOwn(branch, 'const') ||
      Object.keys(branch).some((keyword) => keyword !== 'const' && keyword !== 'type')
    )
      return schema
    literals.push(branch['const'])
  }
  return {
    ...(literals.every((literal) => typeof literal === 'string') && { type: 'string' }),
    enum: literals,
    ...rest,
  }
}
