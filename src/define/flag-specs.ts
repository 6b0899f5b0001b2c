/**
 * Derives the command line of a tool from its input schema: one `FlagSpec` for each field. The
 * parser, help, completion and suggested commands all read these.
 *
 * A published schema is expected: without `$ref`.
 */

import type { ToolManifest } from '../protocol/manifest.ts'
import { compact, isObject } from '../util/values.ts'
import type { JsonSchema } from '../util/values.ts'
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
    const reading = readFlagValue(schema)
    specs.set(field, {
      ...nameFlag(field, manifest),
      schema,
      required: required.has(field) && !Object.hasOwn(reading, 'default'),
      ...reading,
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

/** What the command line needs to know of a value: how it is written, what may stand for it. */
type FlagValueInfo = Pick<FlagSpec, 'kind' | 'choices' | 'description' | 'default' | 'valueName'>

const JSON_TYPES = ['string', 'number', 'boolean', 'object', 'array'] as const
type JsonType = (typeof JSON_TYPES)[number]

// More than this and the choices are listed below the flag instead of in its name.
const MAX_INLINE_CHOICES_LENGTH = 24

/** Reads the schema of one field; it must be free of references. */
export function readFlagValue(given: JsonSchema): FlagValueInfo {
  const schema = unwrapNullable(given)
  const kind = getFlagKind(schema)
  const item = kind === 'list' ? getItemSchema(schema) : schema
  const choices = kind === 'boolean' || kind === 'object' ? undefined : getChoices(item)
  const description = findDescription(schema)
  return compact({
    kind,
    choices,
    description,
    default: Object.hasOwn(schema, 'default') ? schema.default : undefined,
    valueName: choices ? formatChoices(choices) : formatValueName(item, kind),
  })
}

/**
 * The JSON types that a schema allows; all of them where it does not say. Integers count as
 * numbers.
 */
export function getAllowedTypes(given: JsonSchema): ReadonlySet<JsonType> {
  const schema = unwrapNullable(given)
  if (Object.hasOwn(schema, 'const')) return new Set([getValueType(schema.const)])
  if (Array.isArray(schema.enum)) return new Set(schema.enum.map(getValueType))
  const named =
    typeof schema.type === 'string'
      ? [schema.type]
      : Array.isArray(schema.type)
        ? schema.type
        : undefined
  if (named) return new Set(named.map((type) => (type === 'integer' ? 'number' : type) as JsonType))
  const branches = getUnionBranches(schema)[1]
  if (branches) return new Set(branches.flatMap((branch) => [...getAllowedTypes(branch)]))
  const part = Array.isArray(schema.allOf)
    ? schema.allOf
        .filter(isObject)
        .map(getAllowedTypes)
        .find((types) => types.size < JSON_TYPES.length)
    : undefined
  if (part) return part
  if (isObject(schema.properties) || isObject(schema.additionalProperties))
    return new Set(['object'])
  if (isObject(schema.items) || Array.isArray(schema.prefixItems)) return new Set(['array'])
  return new Set(JSON_TYPES)
}

/** The schema of the items of a list; the union of them for tuples. */
export function getItemSchema(given: JsonSchema): JsonSchema {
  const schema = unwrapNullable(given)
  if (Array.isArray(schema.prefixItems))
    return { anyOf: [...schema.prefixItems, ...(isObject(schema.items) ? [schema.items] : [])] }
  if (isObject(schema.items)) return schema.items
  const branches = getUnionBranches(schema)[1]
  return branches ? { anyOf: branches.map(getItemSchema) } : {}
}

/** Whether a value names a file, a directory or neither. */
export function getPathKind(given: JsonSchema): 'files' | 'directories' | undefined {
  const schema = unwrapNullable(given)
  const rules = schema['x-toolable-path']
  if (schema.format === 'directory-path' || (isObject(rules) && rules.kind === 'directory'))
    return 'directories'
  return schema.format === 'path' || schema.format === 'file-path' || isObject(rules)
    ? 'files'
    : undefined
}

function getFlagKind(schema: JsonSchema): FlagSpec['kind'] {
  const types = getAllowedTypes(schema)
  const [only] = types.size === 1 ? types : []
  if (only === 'boolean') return 'boolean'
  if (only === 'array') return 'list'
  return only === 'object' ? 'object' : 'value'
}

function getChoices(given: JsonSchema): readonly string[] | undefined {
  const schema = unwrapNullable(given)
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

function formatValueName(given: JsonSchema, kind: FlagSpec['kind']): string {
  const schema = unwrapNullable(given)
  if (kind === 'object') return 'json'
  if (getPathKind(schema)) return 'path'
  if (schema.format === 'date' || schema.format === 'date-time') return schema.format
  if (
    getUnionBranches(schema)[1]?.every(({ format }) => format === 'date' || format === 'date-time')
  )
    return 'date'
  const types = getAllowedTypes(schema)
  if (types.has('object') || types.has('array')) return 'json'
  if (types.size === 1 && types.has('number')) return isIntegerSchema(schema) ? 'integer' : 'number'
  return types.size === 1 && types.has('boolean') ? 'true|false' : 'text'
}

function isIntegerSchema(schema: JsonSchema): boolean {
  return schema.type === 'integer' || (getUnionBranches(schema)[1]?.every(isIntegerSchema) ?? false)
}

function getValueType(value: unknown): JsonType {
  if (Array.isArray(value)) return 'array'
  return typeof value as JsonType
}

/** The fields of an input schema, whatever it is composed of, each readable on its own. */
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
  for (const part of Array.isArray(schema.allOf) ? schema.allOf.filter(isObject) : []) {
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
    ...compact({
      type: types ? (types.length === 1 ? types[0] : types) : undefined,
      enum: Array.isArray(schema.enum) ? schema.enum.filter((value) => value !== null) : undefined,
    }),
  }
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
