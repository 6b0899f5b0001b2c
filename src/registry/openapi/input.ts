import { isObject } from '../../contract/json.ts'
import type { JsonObject, JsonSchema } from '../../contract/json.ts'
import type { Operation } from './operations.ts'
import type { BodyPlan, FieldPlan, Place, RequestPlan } from './plan.ts'
import { resolved } from './pointers.ts'
import { schemaReader } from './schemas.ts'
import type { SchemaReader } from './schemas.ts'

const PLACES: readonly string[] = ['path', 'query', 'header', 'cookie']
const STYLES: { readonly [place in Place]: string } = {
  path: 'simple',
  query: 'form',
  header: 'simple',
  cookie: 'form',
}
// The specification gives these to the content and security of a request, and the connection owns the rest.
const OWNED_HEADERS = new Set([
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

/** Which input an operation takes, and how it becomes a request. A text says why that cannot be done. */
export function planInput(
  document: JsonObject,
  operation: Operation,
  lost: (ref: string) => void,
): RequestPlan | string {
  const reader = schemaReader(document, lost)
  const secrets = keyParameters(document)
  const taken = new Set<string>()
  const fields: FieldPlan[] = []
  const properties: [string, JsonSchema][] = []
  const required: string[] = []
  const control: string[] = []
  for (const parameter of operation.parameters) {
    const name = String(parameter['name'])
    const place = String(parameter['in'])
    if (!PLACES.includes(place))
      return `its parameter '${name}' is in '${place}', which is no place`
    if (place === 'header' && /^toolable-/i.test(name)) control.push(name.toLowerCase())
    if (
      secrets.has(`${place} ${name.toLowerCase()}`) ||
      (place === 'header' && (OWNED_HEADERS.has(name.toLowerCase()) || isControl(name)))
    )
      continue
    if (isStreamSwitch(parameter, operation)) continue
    const field = freeField(name, place, taken)
    const { schema, json } = schemaOf(parameter, reader)
    fields.push(fieldPlan(parameter, field, place as Place, json))
    properties.push([field, describe(schema, parameter)])
    if (parameter['required'] === true || place === 'path') required.push(field)
  }
  const missing = [...operation.path.matchAll(/\{([^}]*)\}/g)]
    .map(([, name]) => name!)
    .filter((name) => !fields.some((field) => field.in === 'path' && field.name === name))
  for (const name of missing) {
    const field = freeField(name, 'path', taken)
    fields.push({ field, name, in: 'path', style: 'simple', explode: false })
    properties.push([field, { type: 'string' }])
    required.push(field)
  }
  const body = planBody(document, operation, reader, taken)
  if (typeof body === 'string') return body
  return {
    fields,
    ...(body && { body: body.plan }),
    control,
    schema: {
      type: 'object',
      properties: Object.fromEntries([...properties, ...(body?.properties ?? [])]),
      ...(required.length + (body?.required.length ?? 0) > 0 && {
        required: [...required, ...(body?.required ?? [])],
      }),
      additionalProperties: body?.open ?? false,
      ...reader.definitions(),
    },
  }
}

// A switch of the surface, not of the tool: the answer of a call is read as one document.
function isStreamSwitch({ name, in: place }: JsonObject, { parameters }: Operation): boolean {
  return (
    name === 'stream' &&
    place === 'query' &&
    parameters.some((other) => isControl(String(other['name'])))
  )
}

function isControl(name: string): boolean {
  return /^toolable-/i.test(name) || name.toLowerCase() === 'idempotency-key'
}

// Keys of the API come from the configuration, never from who calls.
function keyParameters(document: JsonObject): ReadonlySet<string> {
  const schemes =
    resolved(document, resolved(document, document['components'])?.['securitySchemes']) ?? {}
  return new Set(
    Object.values(schemes).flatMap((given) => {
      const scheme = resolved(document, given)
      return scheme?.['type'] === 'apiKey'
        ? [`${String(scheme['in'])} ${String(scheme['name']).toLowerCase()}`]
        : []
    }),
  )
}

function freeField(name: string, place: string, taken: Set<string>): string {
  const wanted = taken.has(name) ? `${name}_${place}` : name
  let field = wanted
  for (let count = 2; taken.has(field); count += 1) field = `${wanted}_${count}`
  taken.add(field)
  return field
}

function schemaOf(
  parameter: JsonObject,
  reader: SchemaReader,
): { readonly schema: JsonSchema; readonly json: boolean } {
  const [media] = Object.values(isObject(parameter['content']) ? parameter['content'] : {})
  return isObject(media)
    ? { schema: reader.read(media['schema']), json: true }
    : { schema: reader.read(parameter['schema']), json: false }
}

function fieldPlan(parameter: JsonObject, field: string, place: Place, json: boolean): FieldPlan {
  const style = typeof parameter['style'] === 'string' ? parameter['style'] : STYLES[place]
  const explode =
    typeof parameter['explode'] === 'boolean' ? parameter['explode'] : style === 'form'
  return {
    field,
    name: String(parameter['name']),
    in: place,
    style,
    explode,
    ...(json && { json: true }),
  }
}

function describe(schema: JsonSchema, { description, deprecated }: JsonObject): JsonSchema {
  return {
    ...schema,
    ...(typeof description === 'string' && { description }),
    ...(deprecated === true && { deprecated: true }),
  }
}

type Body = {
  readonly plan: BodyPlan
  readonly properties: readonly [string, JsonSchema][]
  readonly required: readonly string[]
  readonly open: unknown
}

// The fields of a body stand beside the parameters where that is clear; otherwise the body is a field of its own.
function planBody(
  document: JsonObject,
  { facts }: Operation,
  reader: SchemaReader,
  taken: Set<string>,
): Body | string | undefined {
  const given =
    facts['requestBody'] === undefined ? undefined : resolved(document, facts['requestBody'])
  if (!given) return undefined
  const content = isObject(given['content']) ? given['content'] : {}
  const type = chooseType(Object.keys(content))
  if (type === undefined)
    return Object.keys(content).length === 0
      ? undefined
      : `its body can only be ${Object.keys(content).join(' or ')}`
  const media = content[type]
  const wanted = isObject(media) ? media['schema'] : undefined
  const isRequired = given['required'] === true
  const spread = spreadable(resolved(document, wanted), isRequired, taken)
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
  const field = freeField('body', 'request', taken)
  const schema = isText(type) ? { type: 'string' } : reader.read(wanted)
  return {
    plan: { type, field },
    properties: [[field, describe(schema, given)]],
    required: isRequired ? [field] : [],
    open: false,
  }
}

const COMPOSED = [
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

function spreadable(
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
  return clashes || (needs && !isRequired) || COMPOSED.some((word) => Object.hasOwn(schema, word))
    ? undefined
    : schema
}

function chooseType(types: readonly string[]): string | undefined {
  const plain = (type: string): string => type.split(';')[0]!.trim().toLowerCase()
  const orders = [
    (type: string) => type === 'application/json',
    (type: string) => /[/+]json$/.test(type),
    (type: string) => type === 'application/x-www-form-urlencoded',
    (type: string) => type === 'multipart/form-data',
    (type: string) => type === '*/*' || type === 'application/*',
    isText,
  ]
  for (const fits of orders) {
    const found = types.find((type) => fits(plain(type)))
    if (found !== undefined) return found
  }
  return undefined
}

function isText(type: string): boolean {
  return type.startsWith('text/')
}
