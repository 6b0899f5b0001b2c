import { isObject } from '../../../contract/json.ts'
import type { JsonSchema } from '../../../contract/json.ts'
import { resolve, withoutNull } from './resolve.ts'

/** A value that can be chosen, and how it is called. */
export type Option = { readonly value: unknown; readonly label: string }

/** A member of an object. */
export type Member = { readonly key: string; readonly schema: unknown; readonly required: boolean }

/** How a field is drawn; what is inside of it is asked for with its own schema, so that one that contains itself ends with its value. */
export type Control =
  | { readonly kind: 'text'; readonly type: 'text' | 'long' | 'password' | 'date' }
  | { readonly kind: 'number'; readonly whole: boolean }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice' | 'many'; readonly options: readonly Option[] }
  | { readonly kind: 'list'; readonly items: unknown }
  | { readonly kind: 'group'; readonly members: readonly Member[] }
  | {
      readonly kind: 'variants'
      readonly variants: readonly { readonly label: string; readonly schema: unknown }[]
    }
  | { readonly kind: 'json' }

/** A field of a form: its control, its schema with everything put together, and whether null is a value of it. */
export type Field = Control & { readonly schema: JsonSchema; readonly nullable: boolean }

const LONG_TEXT = 200
const MOST_BOXES = 12
const LONG_FORMATS = ['textarea', 'multiline', 'markdown', 'code']

/** The field for a schema; `root` is the document that its references point into. What cannot be drawn is JSON. */
export function fieldOf(schema: unknown, root: JsonSchema): Field {
  const found = withoutNull(resolve(schema, root), root)
  return { ...found, ...controlOf(found.schema, root) }
}

/** The name that people see. */
export function titleOf(schema: JsonSchema, otherwise: string): string {
  return textOf(schema['title']) ?? otherwise
}

/** A text that is there and not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** A value in a few words. */
export function show(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

function controlOf(schema: JsonSchema, root: JsonSchema): Control {
  const options = optionsOf(schema, root)
  if (options) return { kind: 'choice', options }
  const variants = variantsOf(schema)
  if (variants)
    return {
      kind: 'variants',
      variants: variants.map((one, index) => ({
        schema: one,
        label: nameVariant(resolve(one, root), root, index),
      })),
    }
  switch (
    schema['type'] ??
    (isObject(schema['properties']) ? 'object' : 'items' in schema ? 'array' : undefined)
  ) {
    case 'string':
      return { kind: 'text', type: textType(schema) }
    case 'number':
      return { kind: 'number', whole: false }
    case 'integer':
      return { kind: 'number', whole: true }
    case 'boolean':
      return { kind: 'boolean' }
    case 'array':
      return listOf(schema, root)
    case 'object':
      return groupOf(schema)
    default:
      return { kind: 'json' }
  }
}

function optionsOf(schema: JsonSchema, root: JsonSchema): readonly Option[] | undefined {
  if (Object.hasOwn(schema, 'const'))
    return [{ value: schema['const'], label: show(schema['const']) }]
  if (Array.isArray(schema['enum']) && schema['enum'].length > 0)
    return schema['enum'].map((value: unknown) => ({ value, label: show(value) }))
  const members = listedIn(schema)?.map((member) => resolve(member, root))
  if (!members?.every((member) => Object.hasOwn(member, 'const'))) return undefined
  return members.map((member) => ({
    value: member['const'],
    label: titleOf(member, textOf(member['description']) ?? show(member['const'])),
  }))
}

function variantsOf(schema: JsonSchema): readonly unknown[] | undefined {
  const { type, oneOf: _one, anyOf: _any, ...rest } = schema
  const members = listedIn(schema)
  // Demands beside the variants would have to be joined with each; a plain description or type is no such demand.
  if (members)
    return isObject(rest['properties'])
      ? undefined
      : members.map((member) =>
          isObject(member) && member['type'] === undefined && type !== undefined
            ? { type, ...member }
            : member,
        )
  return Array.isArray(type) && type.length > 1
    ? type.map((one: unknown) => ({ ...rest, type: one, title: show(one) }))
    : undefined
}

function listedIn(schema: JsonSchema): readonly unknown[] | undefined {
  const members = schema['oneOf'] ?? schema['anyOf']
  return Array.isArray(members) && members.length > 0 ? members : undefined
}

function nameVariant(schema: JsonSchema, root: JsonSchema, index: number): string {
  const properties = isObject(schema['properties']) ? Object.values(schema['properties']) : []
  const mark = properties
    .map((property) => resolve(property, root)['const'])
    .find((value) => value !== undefined)
  return titleOf(
    schema,
    show(mark) || textOf(schema['description']) || show(schema['type']) || `choice ${index + 1}`,
  )
}

function textType(schema: JsonSchema): 'text' | 'long' | 'password' | 'date' {
  const { format, maxLength, contentMediaType } = schema
  if (schema['writeOnly'] === true || format === 'password') return 'password'
  if (format === 'date') return format
  const isLong =
    contentMediaType !== undefined ||
    (typeof maxLength === 'number' && maxLength >= LONG_TEXT) ||
    LONG_FORMATS.includes(String(format))
  return isLong ||
    [schema['default'], ...examplesOf(schema)].some(
      (value) => typeof value === 'string' && value.includes('\n'),
    )
    ? 'long'
    : 'text'
}

/** The examples that a schema gives. */
export function examplesOf(schema: JsonSchema): readonly unknown[] {
  return Array.isArray(schema['examples']) ? (schema['examples'] as unknown[]) : []
}

function listOf(schema: JsonSchema, root: JsonSchema): Control {
  const { items } = schema
  if (!isObject(items) || schema['prefixItems'] !== undefined) return { kind: 'json' }
  const options = optionsOf(resolve(items, root), root)
  return options && options.length <= MOST_BOXES
    ? { kind: 'many', options }
    : { kind: 'list', items }
}

function groupOf(schema: JsonSchema): Control {
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
