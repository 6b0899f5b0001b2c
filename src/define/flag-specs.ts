/**
 * Derives the command line of a tool from its input schema: one `FlagSpec` for each field. The
 * parser, help, completion and suggested commands all read these.
 *
 * A published schema is expected: without `$ref`.
 */

import type { ToolManifest } from '../protocol/manifest.ts'
import type { JsonSchema } from '../util/values.ts'
import { isObject } from '../util/values.ts'
import { nameFlag } from './argv.ts'
import type { FlagSpec } from './global-flags.ts'

type FlagSpecSource = Pick<ToolManifest, 'inputSchema' | 'flags' | 'positional'>

/**
 * How each input field of a tool is written on the command line: positionals first, then what is
 * required, then the rest.
 */
export function toFlagSpecs(manifest: FlagSpecSource): FlagSpec[] {
  const { properties, required } = readInputFields(manifest.inputSchema)
  const specs = new Map<string, FlagSpec>()
  for (const [field, schema] of properties) {
    const value = readFlagValue(schema)
    specs.set(field, {
      ...nameFlag(field, manifest),
      ...value,
      schema,
      required: required.has(field) && value.default === undefined,
    })
  }
  const positional = [...new Set(manifest.positional)].flatMap((field) => specs.get(field) ?? [])
  const others = [...specs.values()].filter((spec) => !spec.positional)
  return [
    ...positional,
    ...others.filter((spec) => spec.required),
    ...others.filter((spec) => !spec.required),
  ]
}

/** What the command line needs to know of a value: how it is written, and its choices. */
type FlagValueInfo = Pick<FlagSpec, 'kind' | 'choices' | 'description' | 'default' | 'valueName'>

const JSON_TYPES = ['string', 'number', 'boolean', 'object', 'array'] as const
type JsonType = (typeof JSON_TYPES)[number]
type JsonTypes = ReadonlySet<JsonType>

// More than this and the choices are listed below the flag instead of in its name.
const MAX_INLINE_CHOICES_LENGTH = 24

/** Reads the schema of one field; it must be free of references. */
export function readFlagValue(given: JsonSchema): FlagValueInfo {
  const schema = unwrapNullable(given)
  const types = getAllowedTypes(schema)
  const kind = getFlagKind(types)
  const item = kind === 'list' ? unwrapNullable(getItemSchema(schema)) : schema
  const choices = kind === 'boolean' || kind === 'object' ? undefined : getChoices(item)
  return {
    kind,
    choices,
    description: findDescription(schema),
    default: Object.hasOwn(schema, 'default') ? schema.default : undefined,
    valueName: choices
      ? formatChoices(choices)
      : formatValueName(item, kind, kind === 'list' ? getAllowedTypes(item) : types),
  }
}

/**
 * The JSON types that a schema allows; all of them where it does not say. Integers count as
 * numbers.
 */
export function getAllowedTypes(given: JsonSchema): JsonTypes {
  const schema = unwrapNullable(given)
  if (Object.hasOwn(schema, 'const')) return new Set([getValueType(schema.const)])
  if (Array.isArray(schema.enum)) return new Set(schema.enum.map(getValueType))
  if (typeof schema.type === 'string' || Array.isArray(schema.type))
    return new Set(
      [schema.type].flat().map((type) => (type === 'integer' ? 'number' : type) as JsonType),
    )
  const branches = getUnionBranches(schema)[1]
  if (branches) return new Set(branches.flatMap((branch) => [...getAllowedTypes(branch)]))
  const part = getAllOf(schema)
    .map(getAllowedTypes)
    .find((types) => types.size < JSON_TYPES.length)
  if (part) return part
  if (isObject(schema.properties) || isObject(schema.additionalProperties))
    return new Set(['object'])
  if (isObject(schema.items) || Array.isArray(schema.prefixItems)) return new Set(['array'])
  return new Set(JSON_TYPES)
}

/** The schema of the items of a list; the union of them for tuples. */
export function getItemSchema(given: JsonSchema): JsonSchema {
  const { prefixItems, items, ...rest } = unwrapNullable(given)
  const item = isObject(items) ? items : undefined
  if (Array.isArray(prefixItems)) return { anyOf: item ? [...prefixItems, item] : prefixItems }
  const branches = getUnionBranches(rest)[1]
  return item ?? (branches ? { anyOf: branches.map(getItemSchema) } : {})
}

/** Whether a value names a file, a directory or neither. */
export function getPathKind(given: JsonSchema): 'files' | 'directories' | undefined {
  const { format, 'x-toolable-path': rules } = unwrapNullable(given)
  if (format === 'directory-path') return 'directories'
  const isPath = format === 'path' || format === 'file-path'
  if (rules === undefined || !isObject(rules)) return isPath ? 'files' : undefined
  return rules.kind === 'directory' ? 'directories' : 'files'
}

function getFlagKind(types: JsonTypes): FlagSpec['kind'] {
  const [only] = types.size === 1 ? types : []
  if (only === 'boolean') return 'boolean'
  if (only === 'array') return 'list'
  return only === 'object' ? 'object' : 'value'
}

function getChoices(schema: JsonSchema): readonly string[] | undefined {
  const values = listConstants(schema)
  if (!values || values.length === 0 || values.some((value) => typeof value === 'object'))
    return undefined
  return [...new Set(values.map(String))]
}

function listConstants(schema: JsonSchema): readonly unknown[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [schema.const]
  // Numbers that have names are chosen by them.
  if (Array.isArray(schema.enum))
    return Array.isArray(schema['x-enum-varnames']) ? schema['x-enum-varnames'] : schema.enum
  const branches = getUnionBranches(schema)[1]?.map(listConstants)
  return branches?.every((values) => values !== undefined) ? branches.flat() : undefined
}

function findDescription(schema: JsonSchema): string | undefined {
  if (typeof schema.description === 'string') return schema.description
  const inner = getUnionBranches(schema)[1]?.find(
    (branch) => typeof branch.description === 'string',
  )
  return inner?.description as string | undefined
}

function formatChoices(choices: readonly string[]): string {
  const joined = choices.join('|')
  return joined.length <= MAX_INLINE_CHOICES_LENGTH ? joined : 'choice'
}

function formatValueName(schema: JsonSchema, kind: FlagSpec['kind'], types: JsonTypes): string {
  if (kind === 'object') return 'json'
  if (getPathKind(schema)) return 'path'
  if (isDateFormat(schema)) return schema.format as string
  if (getUnionBranches(schema)[1]?.every(isDateFormat)) return 'date'
  if (types.has('object') || types.has('array')) return 'json'
  if (types.size > 1) return 'text'
  if (types.has('number')) return isIntegerSchema(schema) ? 'integer' : 'number'
  return types.has('boolean') ? 'true|false' : 'text'
}

function isDateFormat({ format }: JsonSchema): boolean {
  return format === 'date' || format === 'date-time'
}

function isIntegerSchema(schema: JsonSchema): boolean {
  return schema.type === 'integer' || (getUnionBranches(schema)[1]?.every(isIntegerSchema) ?? false)
}

function getValueType(value: unknown): JsonType {
  if (Array.isArray(value)) return 'array'
  return typeof value as JsonType
}

/** The fields of an input schema, also of a composed one. */
type InputFields = {
  readonly properties: ReadonlyMap<string, JsonSchema>
  readonly required: ReadonlySet<string>
}

/**
 * Fields of an object schema without `$ref`. Of a union, the fields of all branches, and required
 * is what every branch requires.
 */
export function readInputFields(schema: JsonSchema): InputFields {
  const properties = new Map<string, JsonSchema>()
  if (isObject(schema.properties)) {
    for (const [field, inner] of Object.entries(schema.properties))
      if (inner !== false) properties.set(field, isObject(inner) ? inner : {})
  }
  const required = new Set<string>(
    Array.isArray(schema.required)
      ? schema.required.filter((name) => typeof name === 'string')
      : [],
  )
  for (const part of getAllOf(schema)) {
    const fields = readInputFields(part)
    for (const [field, inner] of fields.properties)
      if (!properties.has(field)) properties.set(field, inner)
    for (const field of fields.required) required.add(field)
  }
  const branches = (getUnionBranches(schema)[1] ?? []).map(readInputFields)
  for (const [field, inner] of mergeBranchFields(branches))
    if (!properties.has(field)) properties.set(field, inner)
  for (const field of branches[0]?.required ?? [])
    if (branches.every((branch) => branch.required.has(field))) required.add(field)
  return { properties, required }
}

function mergeBranchFields(branches: readonly InputFields[]): Map<string, JsonSchema> {
  const merged = new Map<string, JsonSchema[]>()
  for (const { properties } of branches) {
    for (const [field, schema] of properties) {
      const known = merged.get(field) ?? []
      if (!known.some((other) => JSON.stringify(other) === JSON.stringify(schema)))
        merged.set(field, [...known, schema])
    }
  }
  return new Map(
    [...merged].map(([field, schemas]) => [
      field,
      schemas.length === 1 ? schemas[0]! : { ...pickDescription(schemas), anyOf: schemas },
    ]),
  )
}

function pickDescription(schemas: readonly JsonSchema[]): JsonSchema {
  const description = schemas.find((schema) => typeof schema.description === 'string')?.description
  return description === undefined ? {} : { description }
}

/**
 * The schema without its `null` alternative, so that an optional value looks like the value;
 * annotations outside win.
 */
export function unwrapNullable(schema: JsonSchema): JsonSchema {
  const [union, branches] = getUnionBranches(schema)
  if (union && branches) {
    const kept = branches.filter((branch) => branch.type !== 'null' && branch.const !== null)
    const { [union]: _, ...outside } = schema
    if (kept.length === 1) return unwrapNullable({ ...kept[0], ...outside })
    return kept.length === branches.length ? schema : { ...outside, [union]: kept }
  }
  if (Array.isArray(schema.allOf) && schema.allOf.length === 1 && isObject(schema.allOf[0])) {
    const { allOf, ...outside } = schema
    return unwrapNullable({ ...(allOf as [JsonSchema])[0], ...outside })
  }
  const { type, enum: choices } = schema
  if (!Array.isArray(type) && !Array.isArray(choices)) return schema
  const unwrapped: Record<string, unknown> = { ...schema }
  if (Array.isArray(choices)) unwrapped['enum'] = choices.filter((value) => value !== null)
  if (Array.isArray(type)) {
    const types = type.filter((name) => name !== 'null')
    unwrapped['type'] = types.length === 1 ? types[0] : types
  }
  return unwrapped
}

/** The branches of a union, with the keyword that holds them. */
export function getUnionBranches(
  schema: JsonSchema,
): readonly ['anyOf' | 'oneOf', readonly JsonSchema[]] | readonly [] {
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const branches = schema[keyword]
    if (Array.isArray(branches) && branches.length > 0)
      return [keyword, branches.map((branch) => (isObject(branch) ? branch : {}))]
  }
  return []
}

function getAllOf({ allOf }: JsonSchema): readonly JsonSchema[] {
  return Array.isArray(allOf) ? allOf.filter(isObject) : []
}
