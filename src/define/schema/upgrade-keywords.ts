import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { isSchema, mapSubschemas } from './subschemas.ts'
import type { AnySchema } from './subschemas.ts'

const ANNOTATIONS = new Set([
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  '$comment',
  '$defs',
  'definitions',
])

/** A deep copy of a schema in the words of draft 2020-12, whichever draft it was written in; the copy carries no `$schema`. */
export function upgradeKeywords(schema: JsonSchema): JsonSchema {
  const draft = String(schema['$schema'] ?? '')
  const { $schema: _dropped, ...rest } = upgrade(schema, /draft-0[4-7]/.test(draft))
  return rest
}

/** True for a keyword that says something about a schema without deciding which values fit. */
export function isAnnotation(keyword: string): boolean {
  return ANNOTATIONS.has(keyword)
}

function upgrade(schema: JsonSchema, isOldDraft: boolean): JsonSchema {
  const copy = {
    ...mapSubschemas(schema, (subschema: AnySchema) =>
      typeof subschema === 'boolean' ? subschema : upgrade(subschema, isOldDraft),
    ),
  }
  if (Array.isArray(copy['items'])) {
    copy['prefixItems'] = copy['items']
    if (copy['additionalItems'] === undefined) delete copy['items']
    else copy['items'] = copy['additionalItems']
  }
  delete copy['additionalItems']
  if (isObject(copy['dependencies'])) splitDependencies(copy, copy['dependencies'])
  if (isOldDraft) applyOldRules(copy)
  return copy
}

function splitDependencies(
  copy: Record<string, unknown>,
  dependencies: Record<string, unknown>,
): void {
  const entries = Object.entries(dependencies)
  copy['dependentRequired'] = Object.fromEntries(
    entries.filter(([, value]) => Array.isArray(value)),
  )
  copy['dependentSchemas'] = Object.fromEntries(entries.filter(([, value]) => isSchema(value)))
  delete copy['dependencies']
}

function applyOldRules(copy: Record<string, unknown>): void {
  for (const [exclusive, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof copy[exclusive] !== 'boolean') continue
    if (copy[exclusive]) {
      copy[exclusive] = copy[limit]
      delete copy[limit]
    } else delete copy[exclusive]
  }
  // Before 2019-09 a $ref silenced what stood beside it.
  if (typeof copy['$ref'] === 'string')
    for (const keyword of Object.keys(copy))
      if (keyword !== '$ref' && !isAnnotation(keyword)) delete copy[keyword]
}
