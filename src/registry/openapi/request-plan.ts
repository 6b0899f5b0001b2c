/**
 * Plans how the input of an operation becomes a request, and its JSON Schema.
 */

import type { AnySchema } from '../../define/schema/subschemas.ts'
import { mapSubschemas } from '../../define/schema/subschemas.ts'
import type { JsonObject, JsonSchema } from '../../util/values.ts'
import { asList, asObject, asText, compact, isObject } from '../../util/values.ts'
import { toFreeName } from '../names.ts'
import type { ApiOperation } from './document.ts'
import { followPointer, listSecuritySchemes, resolveRef } from './document.ts'

/** Where a parameter may be, and the style of its value there. */
const DEFAULT_STYLES = { path: 'simple', query: 'form', header: 'simple', cookie: 'form' }
type ParameterLocation = keyof typeof DEFAULT_STYLES
// The specification reserves the first ones for content and security; the connection owns the rest.
const RESERVED_HEADERS = new Set([
  'accept',
  'content-type',
  'authorization',
  'cookie',
  'host',
  'content-length',
  'connection',
  'transfer-encoding',
  'proxy-authorization',
])

/**
 * Plans which input an operation takes and how it becomes a request. Returns a text that says why
 * that is impossible.
 */
export function planRequest(
  document: JsonObject,
  operation: ApiOperation,
  lost: (ref: string) => void,
): RequestPlan | string {
  const reader = createSchemaReader(document, lost)
  const secrets = listApiKeyParameters(document)
  const taken = new Set<string>()
  const fields: FieldPlan[] = []
  const properties: [string, JsonSchema][] = []
  const required: string[] = []
  const control: string[] = []
  for (const parameter of operation.parameters) {
    const name = String(parameter['name'])
    const place = String(parameter['in'])
    if (!isParameterLocation(place))
      return `its parameter '${name}' is in '${place}', which is no place`
    const key = name.toLowerCase()
    if (place === 'header' && key.startsWith('toolable-')) control.push(key)
    if (place === 'header' && (RESERVED_HEADERS.has(key) || isControlHeader(name))) continue
    if (secrets.has(`${place} ${key}`) || isStreamParameter(parameter, operation)) continue
    const field = toFreeFieldName(name, place, taken)
    const { schema, json } = readParameterSchema(parameter, reader)
    fields.push(planField(parameter, field, place, json))
    properties.push([field, withParameterDescription(schema, parameter)])
    if (parameter['required'] === true || place === 'path') required.push(field)
  }
  const missing = [...operation.path.matchAll(/\{([^}]*)\}/g)]
    .map(([, name]) => name!)
    .filter((name) => !fields.some((field) => field.in === 'path' && field.name === name))
  for (const name of missing) {
    const field = toFreeFieldName(name, 'path', taken)
    fields.push({ field, name, in: 'path', style: 'simple', explode: false })
    properties.push([field, { type: 'string' }])
    required.push(field)
  }
  const body = planBody(document, operation, reader, taken)
  if (typeof body === 'string') return body
  const allRequired = [...required, ...(body?.required ?? [])]
  return compact({
    fields,
    body: body?.plan,
    control,
    schema: compact({
      type: 'object',
      properties: Object.fromEntries([...properties, ...(body?.properties ?? [])]),
      required: allRequired.length > 0 ? allRequired : undefined,
      additionalProperties: body?.open ?? false,
      $defs: reader.definitions(),
    }),
  })
}

function isParameterLocation(place: string): place is ParameterLocation {
  return Object.hasOwn(DEFAULT_STYLES, place)
}

// A parameter of the transport, not of the tool: the answer of a call is read as one document.
function isStreamParameter({ name, in: place }: JsonObject, { parameters }: ApiOperation): boolean {
  return (
    name === 'stream' &&
    place === 'query' &&
    parameters.some((other) => isControlHeader(String(other['name'])))
  )
}

function isControlHeader(name: string): boolean {
  return /^toolable-/i.test(name) || name.toLowerCase() === 'idempotency-key'
}

// Keys of the API come from the configuration, never from the caller.
function listApiKeyParameters(document: JsonObject): ReadonlySet<string> {
  return new Set(
    listSecuritySchemes(document)
      .filter(({ type }) => type === 'apiKey')
      .map(({ in: place, name }) => `${String(place)} ${String(name).toLowerCase()}`),
  )
}

function toFreeFieldName(name: string, place: string, taken: Set<string>): string {
  const wanted = taken.has(name) ? `${name}_${place}` : name
  const field = toFreeName(wanted, (other) => taken.has(other))
  taken.add(field)
  return field
}

function readParameterSchema(
  parameter: JsonObject,
  reader: ApiSchemaReader,
): { readonly schema: JsonSchema; readonly json: boolean } {
  const [media] = Object.values(asObject(parameter['content']) ?? {})
  return isObject(media)
    ? { schema: reader.read(media['schema']), json: true }
    : { schema: reader.read(parameter['schema']), json: false }
}

function planField(
  parameter: JsonObject,
  field: string,
  place: ParameterLocation,
  json: boolean,
): FieldPlan {
  const style = asText(parameter['style']) ?? DEFAULT_STYLES[place]
  const explode =
    typeof parameter['explode'] === 'boolean' ? parameter['explode'] : style === 'form'
  return compact({
    field,
    name: String(parameter['name']),
    in: place,
    style,
    explode,
    json: json || undefined,
  })
}

function withParameterDescription(
  schema: JsonSchema,
  { description, deprecated }: JsonObject,
): JsonSchema {
  return {
    ...schema,
    ...compact({ description: asText(description), deprecated: deprecated === true || undefined }),
  }
}

type PlannedBody = {
  readonly plan: BodyPlan
  readonly properties: readonly [string, JsonSchema][]
  readonly required: readonly string[]
  readonly open: unknown
}

// The fields of a body are fields of the input if that is unambiguous; otherwise the body is one
// field.
function planBody(
  document: JsonObject,
  { facts }: ApiOperation,
  reader: ApiSchemaReader,
  taken: Set<string>,
): PlannedBody | string | undefined {
  const given = resolveRef(document, facts['requestBody'])
  if (!given) return undefined
  const content = asObject(given['content']) ?? {}
  const types = Object.keys(content)
  if (types.length === 0) return undefined
  const type = chooseMediaType(types)
  if (type === undefined) return `its body can only be ${types.join(' or ')}`
  const wanted = asObject(content[type])?.['schema']
  const isRequired = given['required'] === true
  const spread = findSpreadableSchema(resolveRef(document, wanted), isRequired, taken)
  if (spread) {
    const { properties, required, additionalProperties } = reader.read(spread) as {
      properties: JsonObject
      required?: string[]
      additionalProperties?: unknown
    }
    return {
      plan: { type },
      properties: Object.entries(properties) as [string, JsonSchema][],
      required: required ?? [],
      open: additionalProperties ?? false,
    }
  }
  const field = toFreeFieldName('body', 'request', taken)
  const schema = isTextMediaType(type) ? { type: 'string' } : reader.read(wanted)
  return {
    plan: { type, field },
    properties: [[field, withParameterDescription(schema, given)]],
    required: isRequired ? [field] : [],
    open: false,
  }
}

const COMPOSITION_KEYWORDS = [
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  '$ref',
  'patternProperties',
  'dependentRequired',
  'dependentSchemas',
  'minProperties',
  'maxProperties',
  'propertyNames',
  'nullable',
]

function findSpreadableSchema(
  schema: JsonObject | undefined,
  isRequired: boolean,
  taken: ReadonlySet<string>,
): JsonObject | undefined {
  const { type = 'object', properties, required } = schema ?? {}
  if (!schema || !isObject(properties) || type !== 'object') return undefined
  const clashes = Object.entries(properties).some(
    ([name, property]) => !isReadOnly(property) && taken.has(name),
  )
  const needsMore = asList(required).length > 0 && !isRequired
  const isComposed = COMPOSITION_KEYWORDS.some((word) => Object.hasOwn(schema, word))
  return clashes || needsMore || isComposed ? undefined : schema
}

function chooseMediaType(types: readonly string[]): string | undefined {
  for (const fits of MEDIA_TYPES_BY_PREFERENCE) {
    const found = types.find((type) => fits(type.split(';')[0]!.trim().toLowerCase()))
    if (found !== undefined) return found
  }
  return undefined
}

const MEDIA_TYPES_BY_PREFERENCE: readonly ((type: string) => boolean)[] = [
  (type) => type === 'application/json',
  (type) => /[/+]json$/.test(type),
  (type) => type === 'application/x-www-form-urlencoded',
  (type) => type === 'multipart/form-data',
  (type) => type === '*/*' || type === 'application/*',
  isTextMediaType,
]

function isTextMediaType(type: string): boolean {
  return type.startsWith('text/')
}

const MAX_SCHEMA_DEPTH = 64
const OPENAPI_KEYWORDS = ['discriminator', 'xml', 'externalDocs', 'example'] as const

/**
 * Makes schemas of a document self-contained: references lead to `$defs` of the same schema. What
 * OpenAPI 3.0 writes differently from JSON Schema is read by foreign/sanitize-node.ts.
 */
type ApiSchemaReader = {
  /** Reads one schema. What it refers to is added to `definitions`. */
  read(schema: unknown): JsonSchema
  definitions(): JsonObject | undefined
}

/** Starts with no definitions. `lost` gets references that lead nowhere. */
function createSchemaReader(document: JsonObject, lost: (ref: string) => void): ApiSchemaReader {
  // In OpenAPI 3.0 everything beside a reference is ignored.
  const ignoresSiblings = String(document['openapi']).startsWith('3.0')
  const names = new Map<string, string>()
  const defs: { [name: string]: AnySchema } = Object.create(null) as {}

  const refer = (ref: string): JsonSchema => {
    const known = names.get(ref)
    if (known !== undefined) return { $ref: `#/$defs/${known}` }
    const target = followPointer(document, ref)
    if (!isObject(target) && typeof target !== 'boolean') {
      lost(ref)
      return {}
    }
    const name = toFreeName(toSchemaName(ref), (other) => Object.hasOwn(defs, other))
    names.set(ref, name)
    // Reserved before it is read, because it may refer to itself.
    defs[name] = true
    defs[name] = typeof target === 'boolean' ? target : convert(target, 0)
    return { $ref: `#/$defs/${name}` }
  }

  const convert = (schema: JsonObject, depth: number): JsonSchema => {
    if (depth > MAX_SCHEMA_DEPTH) return {}
    const ref = asText(Object.hasOwn(schema, '$ref') ? schema['$ref'] : undefined)
    if (ref !== undefined && ignoresSiblings) return refer(ref)
    const copy: Record<string, unknown> = {
      ...mapSubschemas(dropReadOnly(schema), (subschema) =>
        typeof subschema === 'boolean' ? subschema : convert(subschema, depth + 1),
      ),
    }
    for (const word of OPENAPI_KEYWORDS) delete copy[word]
    if (ref === undefined) return copy
    delete copy['$ref']
    const target = refer(ref)
    return Object.keys(copy).length === 0 ? target : { ...copy, ...target }
  }

  return {
    read: (schema) => (isObject(schema) ? convert(schema, 0) : {}),
    definitions: () => (Object.keys(defs).length === 0 ? undefined : { ...defs }),
  }
}

// Only the server sets read-only fields, so the caller is not asked for them.
function dropReadOnly(schema: JsonObject): JsonObject {
  const { properties, required } = schema
  if (!isObject(properties) || !Object.values(properties).some(isReadOnly)) return schema
  const isAsked = (name: unknown): boolean => !isReadOnly(properties[String(name)])
  return compact({
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isAsked(name))),
    required: Array.isArray(required) ? required.filter(isAsked) : required,
  })
}

function isReadOnly(property: unknown): boolean {
  return asObject(property)?.['readOnly'] === true
}

function toSchemaName(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1).replace(/[^A-Za-z0-9_.-]+/g, '_') || 'schema'
}

/** How one input field becomes part of a request. */
export type FieldPlan = {
  readonly field: string
  /** The name in the API. */
  readonly name: string
  readonly in: ParameterLocation
  readonly style: string
  readonly explode: boolean
  /** The value travels as JSON text. */
  readonly json?: true
}

/** How the body is built: from all fields that are no parameters, or from one field. */
export type BodyPlan = { readonly type: string; readonly field?: string }

/** How an input becomes a request. */
export type RequestPlan = {
  readonly fields: readonly FieldPlan[]
  readonly body?: BodyPlan
  /** Headers of toolable servers that control a call; only this client sets them. */
  readonly control: readonly string[]
  readonly schema: JsonSchema
}
