import { isObject } from '../../../contract/json.ts'
import type { JsonSchema } from '../../../contract/json.ts'
import { fieldOf } from './field.ts'
import type { Member } from './field.ts'

const DEEPEST = 20

/** What a form gives: the draft without what is not filled in. What has to be there is, where it can be only one thing. Undefined where nothing is left. */
export function prune(
  schema: unknown,
  root: JsonSchema,
  draft: unknown,
  required = true,
  depth = 0,
): unknown {
  const field = fieldOf(schema, root)
  if (depth > DEEPEST || draft === null) return draft
  switch (field.kind) {
    case 'choice':
      return draft === undefined && required && field.options.length === 1
        ? field.options[0]!.value
        : draft
    case 'group':
      return isObject(draft) || (draft === undefined && required)
        ? pruneGroup(field.members, root, draft ?? {}, required, depth)
        : draft
    case 'many':
    case 'list': {
      if (!Array.isArray(draft) && draft !== undefined) return draft
      const items = 'items' in field ? field.items : {}
      const filled = (draft ?? [])
        .map((item: unknown) => prune(items, root, item, true, depth + 1))
        .filter((item: unknown) => item !== undefined) as unknown[]
      return filled.length > 0 || required ? filled : undefined
    }
    case 'variants':
      return draft === undefined
        ? draft
        : prune(
            field.variants[variantOf(field.variants, root, draft)]!.schema,
            root,
            draft,
            required,
            depth + 1,
          )
    default:
      return draft
  }
}

/** Which of several schemas a value is of, as far as its look tells; the first where none fits. */
export function variantOf(
  variants: readonly { readonly schema: unknown }[],
  root: JsonSchema,
  value: unknown,
): number {
  const index = variants.findIndex(({ schema }) => looksLike(schema, root, value))
  return Math.max(index, 0)
}

function pruneGroup(
  members: readonly Member[],
  root: JsonSchema,
  draft: unknown,
  required: boolean,
  depth: number,
): unknown {
  const given = draft as { readonly [key: string]: unknown }
  const known = members.map(
    ({ key, schema, required: needed }) =>
      [key, prune(schema, root, ownValue(given, key), needed, depth + 1)] as const,
  )
  const others = Object.entries(given).filter(
    ([key]) => !members.some((member) => member.key === key),
  )
  const entries = [...known, ...others].filter(([, value]) => value !== undefined)
  return entries.length > 0 || required ? Object.fromEntries(entries) : undefined
}

/** A member of an object, never one that it inherits. */
export function ownValue(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

function looksLike(schema: unknown, root: JsonSchema, value: unknown): boolean {
  const field = fieldOf(schema, root)
  if (value === null) return field.nullable || field.schema['type'] === 'null'
  switch (field.kind) {
    case 'text':
      return typeof value === 'string'
    case 'number':
      return typeof value === 'number' && (!field.whole || Number.isInteger(value))
    case 'boolean':
      return typeof value === 'boolean'
    case 'choice':
      return field.options.some((option) => JSON.stringify(option.value) === JSON.stringify(value))
    case 'many':
    case 'list':
      return (
        Array.isArray(value) &&
        value.every((item) => !('items' in field) || looksLike(field.items, root, item))
      )
    case 'group':
      return isObject(value) && looksLikeGroup(field.members, root, value)
    case 'variants':
      return field.variants.some((variant) => looksLike(variant.schema, root, value))
    default:
      return (
        field.schema['type'] === undefined ||
        (field.schema['type'] === 'object' ? isObject(value) : Array.isArray(value))
      )
  }
}

function looksLikeGroup(
  members: readonly Member[],
  root: JsonSchema,
  value: { readonly [key: string]: unknown },
): boolean {
  const fits = members.every((member) => {
    const inner = ownValue(value, member.key)
    const field = fieldOf(member.schema, root)
    return (
      field.kind !== 'choice' ||
      field.options.length > 1 ||
      (inner === undefined
        ? !member.required
        : JSON.stringify(inner) === JSON.stringify(field.options[0]!.value))
    )
  })
  return fits && Object.keys(value).every((key) => members.some((member) => member.key === key))
}
