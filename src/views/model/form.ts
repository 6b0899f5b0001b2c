/**
 * Forms from JSON Schema: which control a schema gets. What cannot be drawn is edited as JSON.
 */

import type { JsonSchema } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'

/** A value that can be chosen, and how it is called. */
export type FieldOption = { readonly value: unknown; readonly label: string }

/** A member of an object. */
export type FieldMember = {
  readonly key: string
  readonly schema: unknown
  readonly required: boolean
}

/**
 * How a field is drawn; what is inside of it is asked for with its own schema, so that one that
 * contains itself ends with its value.
 */
type FieldControl =
  | { readonly kind: 'text'; readonly type: 'text' | 'long' | 'password' | 'date' }
  | { readonly kind: 'number'; readonly whole: boolean }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice' | 'many'; readonly options: readonly FieldOption[] }
  | { readonly kind: 'list'; readonly items: unknown }
  | { readonly kind: 'group'; readonly members: readonly FieldMember[] }
  | {
      readonly kind: 'variants'
      readonly variants: readonly { readonly label: string; readonly schema: unknown }[]
    }
  | { readonly kind: 'json' }

/**
 * A field of a form: its control, its schema with everything put together, and whether null is a
 * value of it.
 */
export type FormField = FieldControl & { readonly schema: JsonSchema; readonly nullable: boolean }

const LONG_TEXT_LENGTH = 200
const MAX_CHECKBOXES = 12
const LONG_FORMATS = ['textarea', 'multiline', 'markdown', 'code']

/**
 * The field for a schema; `root` is the document that its references point into. What cannot be
 * drawn is JSON.
 */
export function getField(schema: unknown, root: JsonSchema): FormField {
  const found = splitNullable(resolveSchema(schema, root), root)
  return { ...found, ...getControl(found.schema, root) }
}

/** The name that people see. */
export function getTitle(schema: JsonSchema, otherwise: string): string {
  return toNonEmptyText(schema['title']) ?? otherwise
}

/** A text that is there and not empty. */
export function toNonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** A value in a few words. */
export function toDisplayText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

function getControl(schema: JsonSchema, root: JsonSchema): FieldControl {
  const options = getOptions(schema, root)
  if (options) return { kind: 'choice', options }
  const variants = getVariants(schema)
  if (variants)
    return {
      kind: 'variants',
      variants: variants.map((one, index) => ({
        schema: one,
        label: nameVariant(resolveSchema(one, root), root, index),
      })),
    }
  switch (schema['type'] ?? guessType(schema)) {
    case 'string':
      return { kind: 'text', type: getTextType(schema) }
    case 'number':
      return { kind: 'number', whole: false }
    case 'integer':
      return { kind: 'number', whole: true }
    case 'boolean':
      return { kind: 'boolean' }
    case 'array':
      return getListControl(schema, root)
    case 'object':
      return getGroupControl(schema)
    default:
      return { kind: 'json' }
  }
}

function guessType(schema: JsonSchema): 'object' | 'array' | undefined {
  if (isObject(schema['properties'])) return 'object'
  return 'items' in schema ? 'array' : undefined
}

function getOptions(schema: JsonSchema, root: JsonSchema): readonly FieldOption[] | undefined {
  if (Object.hasOwn(schema, 'const'))
    return [{ value: schema['const'], label: toDisplayText(schema['const']) }]
  if (Array.isArray(schema['enum']) && schema['enum'].length > 0)
    return schema['enum'].map((value: unknown) => ({ value, label: toDisplayText(value) }))
  const members = getAlternatives(schema)?.map((member) => resolveSchema(member, root))
  if (!members?.every((member) => Object.hasOwn(member, 'const'))) return undefined
  return members.map((member) => ({
    value: member['const'],
    label: getTitle(
      member,
      toNonEmptyText(member['description']) ?? toDisplayText(member['const']),
    ),
  }))
}

function getVariants(schema: JsonSchema): readonly unknown[] | undefined {
  const { type, oneOf: _one, anyOf: _any, ...rest } = schema
  const members = getAlternatives(schema)
  // Demands beside the variants would have to be joined with each; a plain description or type is
  // no such demand.
  if (members)
    return isObject(rest['properties'])
      ? undefined
      : members.map((member) =>
          isObject(member) && member['type'] === undefined && type !== undefined
            ? { type, ...member }
            : member,
        )
  return Array.isArray(type) && type.length > 1
    ? type.map((one: unknown) => ({ ...rest, type: one, title: toDisplayText(one) }))
    : undefined
}

function getAlternatives(schema: JsonSchema): readonly unknown[] | undefined {
  const members = schema['oneOf'] ?? schema['anyOf']
  return Array.isArray(members) && members.length > 0 ? members : undefined
}

function nameVariant(schema: JsonSchema, root: JsonSchema, index: number): string {
  const properties = isObject(schema['properties']) ? Object.values(schema['properties']) : []
  const mark = properties
    .map((property) => resolveSchema(property, root)['const'])
    .find((value) => value !== undefined)
  return getTitle(
    schema,
    toDisplayText(mark) ||
      toNonEmptyText(schema['description']) ||
      toDisplayText(schema['type']) ||
      `choice ${index + 1}`,
  )
}

function getTextType(schema: JsonSchema): 'text' | 'long' | 'password' | 'date' {
  const { format, maxLength, contentMediaType } = schema
  if (schema['writeOnly'] === true || format === 'password') return 'password'
  if (format === 'date') return format
  const isLong =
    contentMediaType !== undefined ||
    (typeof maxLength === 'number' && maxLength >= LONG_TEXT_LENGTH) ||
    LONG_FORMATS.includes(String(format))
  return isLong ||
    [schema['default'], ...getExamples(schema)].some(
      (value) => typeof value === 'string' && value.includes('\n'),
    )
    ? 'long'
    : 'text'
}

/** The examples that a schema gives. */
export function getExamples(schema: JsonSchema): readonly unknown[] {
  return Array.isArray(schema['examples']) ? (schema['examples'] as unknown[]) : []
}

function getListControl(schema: JsonSchema, root: JsonSchema): FieldControl {
  const { items } = schema
  if (!isObject(items) || schema['prefixItems'] !== undefined) return { kind: 'json' }
  const options = getOptions(resolveSchema(items, root), root)
  return options && options.length <= MAX_CHECKBOXES
    ? { kind: 'many', options }
    : { kind: 'list', items }
}

function getGroupControl(schema: JsonSchema): FieldControl {
  const { properties, required } = schema
  if (!isObject(properties)) return { kind: 'json' }
  return {
    kind: 'group',
    members: Object.entries(properties).map(([key, member]) => ({
      key,
      schema: member,
      required: Array.isArray(required) && required.includes(key),
    })),
  }
}

const MAX_REF_DEPTH = 20

/**
 * A schema with its references followed and its `allOf` put together, so far as its own level goes;
 * what is no schema object is one without demands.
 */
function resolveSchema(schema: unknown, root: JsonSchema, steps = 0): JsonSchema {
  if (!isObject(schema)) return {}
  const { $ref: reference, allOf: parts, ...own } = schema
  if (steps > MAX_REF_DEPTH) return own
  const target =
    typeof reference === 'string'
      ? resolveSchema(followPointer(reference, root), root, steps + 1)
      : {}
  const all = Array.isArray(parts) ? parts.map((part) => resolveSchema(part, root, steps + 1)) : []
  return [target, ...all, own].reduce(mergeSchemas)
}

/** A schema without the null that it also allows, and whether it does. */
function splitNullable(
  schema: JsonSchema,
  root: JsonSchema,
): { readonly schema: JsonSchema; readonly nullable: boolean } {
  const { type, enum: values } = schema
  if (Array.isArray(type) && type.includes('null')) {
    const others = type.filter((one) => one !== 'null') as unknown[]
    return {
      schema: {
        ...schema,
        type: others.length === 1 ? others[0] : others,
        ...compact({
          enum: Array.isArray(values)
            ? (values.filter((one) => one !== null) as unknown[])
            : undefined,
        }),
      },
      nullable: true,
    }
  }
  if (Array.isArray(values) && values.length > 1 && values.includes(null))
    return {
      schema: { ...schema, enum: values.filter((one) => one !== null) as unknown[] },
      nullable: true,
    }
  for (const keyword of ['anyOf', 'oneOf']) {
    const members = schema[keyword]
    if (!Array.isArray(members)) continue
    const others = members.filter(
      (member) => !isNullSchema(resolveSchema(member, root)),
    ) as unknown[]
    if (others.length === members.length || others.length === 0) continue
    const { [keyword]: _, ...rest } = schema
    return {
      schema:
        others.length === 1
          ? mergeSchemas(resolveSchema(others[0], root), rest)
          : { ...rest, [keyword]: others },
      nullable: true,
    }
  }
  return { schema, nullable: false }
}

function isNullSchema(schema: JsonSchema): boolean {
  return schema['type'] === 'null' || schema['const'] === null
}

function mergeSchemas(base: JsonSchema, more: JsonSchema): JsonSchema {
  const merged: Record<string, unknown> = { ...base, ...more }
  if (isObject(base['properties']) && isObject(more['properties']))
    merged['properties'] = { ...base['properties'], ...more['properties'] }
  if (Array.isArray(base['required']) && Array.isArray(more['required']))
    merged['required'] = [
      ...new Set([...(base['required'] as unknown[]), ...(more['required'] as unknown[])]),
    ]
  return merged
}

function followPointer(reference: string, root: JsonSchema): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((here, part) => {
      const key = decodeUriPart(part).replaceAll('~1', '/').replaceAll('~0', '~')
      return typeof here === 'object' && here !== null && Object.hasOwn(here, key)
        ? (here as Record<string, unknown>)[key]
        : undefined
    }, root)
}

function decodeUriPart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
