/**
 * Plans how the input of an operation becomes a request, and its JSON Schema.
 */

import { mapSubschemas } from '../../define/schema/subschemas.ts'
import type { AnySchema } from '../../define/schema/subschemas.ts'
import { compact, isObject } from '../../util/values.ts'
import type { JsonObject, JsonSchema } from '../../util/values.ts'
import { followPointer, resolveRef } from './document.ts'
import type { ApiOperation } from './document.ts'

const PARAMETER_LOCATIONS: readonly string[] = ['path', 'query', 'header', 'cookie']
const DEFAULT_STYLES: { readonly [place in ParameterLocation]: string } = {
  path: 'simple',
  query: 'form',
  header: 'simple',
  cookie: 'form',
}
// The specification gives these to the content and security of a request, and the connection owns
// the rest.
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
 * Which input an operation takes, and how it becomes a request. A text says why that cannot be
 * done.
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
    if (!PARAMETER_LOCATIONS.includes(place))
      return `its parameter '${name}' is in '${place}', which is no place`
    if (place === 'header' && /^toolable-/i.test(name)) control.push(name.toLowerCase())
    if (
      secrets.has(`${place} ${name.toLowerCase()}`) ||
      (place === 'header' && (RESERVED_HEADERS.has(name.toLowerCase()) || isControlHeader(name)))
    )
      continue
    if (isStreamParameter(parameter, operation)) continue
    const field = toFreeFieldName(name, place, taken)
    const { schema, json } = readParameterSchema(parameter, reader)
    fields.push(planField(parameter, field, place as ParameterLocation, json))
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
  return compact({
    fields,
    body: body ? body.plan : undefined,
    control,
    schema: {
      type: 'object',
      properties: Object.fromEntries([...properties, ...(body?.properties ?? [])]),
      ...compact({
        required:
          required.length + (body?.required.length ?? 0) > 0
            ? [...required, ...(body?.required ?? [])]
            : undefined,
      }),
      additionalProperties: body?.open ?? false,
      ...reader.definitions(),
    },
  })
}

// A switch of the surface, not of the tool: the answer of a call is read as one document.
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

// Keys of the API come from the configuration, never from who calls.
function listApiKeyParameters(document: JsonObject): ReadonlySet<string> {
  const schemes =
    resolveRef(document, resolveRef(document, document['components'])?.['securitySchemes']) ?? {}
  return new Set(
    Object.values(schemes).flatMap((given) => {
      const scheme = resolveRef(document, given)
      return scheme?.['type'] === 'apiKey'
        ? [`${String(scheme['in'])} ${String(scheme['name']).toLowerCase()}`]
        : []
    }),
  )
}

function toFreeFieldName(name: string, place: string, taken: Set<string>): string {
  const wanted = taken.has(name) ? `${name}_${place}` : name
  let field = wanted
  for (let count = 2; taken.has(field); count += 1) field = `${wanted}_${count}`
  taken.add(field)
  return field
}

function readParameterSchema(
  parameter: JsonObject,
  reader: ApiSchemaReader,
): { readonly schema: JsonSchema; readonly json: boolean } {
  const [media] = Object.values(isObject(parameter['content']) ? parameter['content'] : {})
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
  const style = typeof parameter['style'] === 'string' ? parameter['style'] : DEFAULT_STYLES[place]
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
    ...compact({
      description: typeof description === 'string' ? description : undefined,
      deprecated: deprecated === true || undefined,
    }),
  }
}

type PlannedBody = {
  readonly plan: BodyPlan
  readonly properties: readonly [string, JsonSchema][]
  readonly required: readonly string[]
  readonly open: unknown
}

// The fields of a body stand beside the parameters where that is clear; otherwise the body is a
// field of its own.
function planBody(
  document: JsonObject,
  { facts }: ApiOperation,
  reader: ApiSchemaReader,
  taken: Set<string>,
): PlannedBody | string | undefined {
  const given =
    facts['requestBody'] === undefined ? undefined : resolveRef(document, facts['requestBody'])
  if (!given) return undefined
  const content = isObject(given['content']) ? given['content'] : {}
  const type = chooseMediaType(Object.keys(content))
  if (type === undefined)
    return Object.keys(content).length === 0
      ? undefined
      : `its body can only be ${Object.keys(content).join(' or ')}`
  const media = content[type]
  const wanted = isObject(media) ? media['schema'] : undefined
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
  if (
    !schema ||
    !isObject(schema['properties']) ||
    (schema['type'] !== undefined && schema['type'] !== 'object')
  )
    return undefined
  const asked = Object.entries(schema['properties']).flatMap(([name, property]) =>
    isObject(property) && property['readOnly'] === true ? [] : [name],
  )
  const clashes = asked.some((name) => taken.has(name))
  const needs = Array.isArray(schema['required']) && schema['required'].length > 0
  return clashes ||
    (needs && !isRequired) ||
    COMPOSITION_KEYWORDS.some((word) => Object.hasOwn(schema, word))
    ? undefined
    : schema
}

function chooseMediaType(types: readonly string[]): string | undefined {
  const plain = (type: string): string => type.split(';')[0]!.trim().toLowerCase()
  const orders = [
    (type: string) => type === 'application/json',
    (type: string) => /[/+]json$/.test(type),
    (type: string) => type === 'application/x-www-form-urlencoded',
    (type: string) => type === 'multipart/form-data',
    (type: string) => type === '*/*' || type === 'application/*',
    isTextMediaType,
  ]
  for (const fits of orders) {
    const found = types.find((type) => fits(plain(type)))
    if (found !== undefined) return found
  }
  return undefined
}

function isTextMediaType(type: string): boolean {
  return type.startsWith('text/')
}

const MAX_SCHEMA_DEPTH = 64
const OPENAPI_KEYWORDS = ['discriminator', 'xml', 'externalDocs', 'example'] as const

/**
 * Makes JSON Schemas out of those of a document: references lead to `$defs` of the same schema, and
 * the words of OpenAPI 3.0 become those of JSON Schema.
 */
type ApiSchemaReader = {
  /** Reads one schema; what it refers to is gathered in `definitions`. */
  read(schema: unknown): JsonSchema
  definitions(): { readonly $defs?: JsonObject }
}

/** Starts with nothing gathered. `lost` is told of references that lead nowhere. */
function createSchemaReader(document: JsonObject, lost: (ref: string) => void): ApiSchemaReader {
  const isOld = String(document['openapi']).startsWith('3.0')
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
    const name = toFreeSchemaName(ref, defs)
    names.set(ref, name)
    // Reserved before it is read, because it may refer to itself.
    defs[name] = true
    defs[name] = typeof target === 'boolean' ? target : convert(target, 0)
    return { $ref: `#/$defs/${name}` }
  }

  const convert = (schema: JsonObject, depth: number): JsonSchema => {
    if (depth > MAX_SCHEMA_DEPTH) return {}
    const ref = Object.hasOwn(schema, '$ref') ? schema['$ref'] : undefined
    if (typeof ref === 'string' && isOld) return refer(ref)
    const copy: Record<string, unknown> = {
      ...mapSubschemas(dropReadOnly(schema), (subschema) =>
        typeof subschema === 'boolean' ? subschema : convert(subschema, depth + 1),
      ),
    }
    for (const word of OPENAPI_KEYWORDS) delete copy[word]
    if (isOld) moderniseSchema(copy)
    if (typeof ref !== 'string') return copy
    delete copy['$ref']
    const target = refer(ref)
    return Object.keys(copy).length === 0 ? target : { ...copy, ...target }
  }

  return {
    read: (schema) => (isObject(schema) ? convert(schema, 0) : {}),
    definitions: () => (Object.keys(defs).length === 0 ? {} : { $defs: { ...defs } }),
  }
}

// What a server alone decides is not asked of the caller.
function dropReadOnly(schema: JsonObject): JsonObject {
  const { properties, required } = schema
  if (!isObject(properties)) return schema
  const hidden = new Set(
    Object.entries(properties).flatMap(([name, property]) =>
      isObject(property) && property['readOnly'] === true ? [name] : [],
    ),
  )
  if (hidden.size === 0) return schema
  return {
    ...schema,
    properties: Object.fromEntries(
      Object.entries(properties).filter(([name]) => !hidden.has(name)),
    ),
    ...compact({
      required: Array.isArray(required)
        ? required.filter((name) => !hidden.has(String(name)))
        : undefined,
    }),
  }
}

function moderniseSchema(schema: Record<string, unknown>): void {
  for (const [exclusive, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof schema[exclusive] !== 'boolean') continue
    if (schema[exclusive]) {
      schema[exclusive] = schema[limit]
      delete schema[limit]
    } else delete schema[exclusive]
  }
  const { nullable } = schema
  delete schema['nullable']
  if (nullable !== true) return
  if (typeof schema['type'] === 'string') schema['type'] = [schema['type'], 'null']
  if (Array.isArray(schema['enum']) && !schema['enum'].includes(null))
    schema['enum'] = [...(schema['enum'] as unknown[]), null]
}

function toFreeSchemaName(ref: string, taken: object): string {
  const plain = ref.slice(ref.lastIndexOf('/') + 1).replace(/[^A-Za-z0-9_.-]+/g, '_') || 'schema'
  let name = plain
  for (let count = 2; Object.hasOwn(taken, name); count += 1) name = `${plain}_${count}`
  return name
}

type ParameterLocation = 'path' | 'query' | 'header' | 'cookie'

/** How one input field becomes part of a request. */
export type FieldPlan = {
  readonly field: string
  /** What the API calls it. */
  readonly name: string
  readonly in: ParameterLocation
  readonly style: string
  readonly explode: boolean
  /** The value travels as JSON text. */
  readonly json?: true
}

/** How the body is made: of all fields that are no parameters, or of one field. */
export type BodyPlan = { readonly type: string; readonly field?: string }

/** How an input becomes a request. */
export type RequestPlan = {
  readonly fields: readonly FieldPlan[]
  readonly body?: BodyPlan
  /** Headers that say how the call is made, and that only we set: a toolable server has them. */
  readonly control: readonly string[]
  readonly schema: JsonSchema
}
