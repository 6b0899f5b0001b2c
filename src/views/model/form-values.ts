/**
 * The values of a form: what it submits, parsed input, hints, problems by path, and hidden secrets.
 */

import type { JsonSchema } from '../../util/values.ts'
import { isObject } from '../../util/values.ts'
import type { FieldMember, FormField } from './form.ts'
import { getExamples, getField, toDisplayText, toNonEmptyText } from './form.ts'

const MAX_DEPTH = 20

/**
 * What a form gives: the draft without what is not filled in. What has to be there is, where it can
 * be only one thing. Undefined where nothing is left.
 */
export function pruneDraft(
  schema: unknown,
  root: JsonSchema,
  draft: unknown,
  required = true,
  depth = 0,
): unknown {
  const field = getField(schema, root)
  if (depth > MAX_DEPTH || draft === null) return draft
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
        .map((item: unknown) => pruneDraft(items, root, item, true, depth + 1))
        .filter((item: unknown) => item !== undefined) as unknown[]
      return filled.length > 0 || required ? filled : undefined
    }
    case 'variants':
      return draft === undefined
        ? draft
        : pruneDraft(
            field.variants[findVariant(field.variants, root, draft)]!.schema,
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
export function findVariant(
  variants: readonly { readonly schema: unknown }[],
  root: JsonSchema,
  value: unknown,
): number {
  const index = variants.findIndex(({ schema }) => looksLikeSchema(schema, root, value))
  return Math.max(index, 0)
}

function pruneGroup(
  members: readonly FieldMember[],
  root: JsonSchema,
  draft: unknown,
  required: boolean,
  depth: number,
): unknown {
  const given = draft as { readonly [key: string]: unknown }
  const known = members.map(
    ({ key, schema, required: needed }) =>
      [key, pruneDraft(schema, root, getOwnValue(given, key), needed, depth + 1)] as const,
  )
  const others = Object.entries(given).filter(
    ([key]) => !members.some((member) => member.key === key),
  )
  const entries = [...known, ...others].filter(([, value]) => value !== undefined)
  return entries.length > 0 || required ? Object.fromEntries(entries) : undefined
}

/** A member of an object, never one that it inherits. */
export function getOwnValue(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

function looksLikeSchema(schema: unknown, root: JsonSchema, value: unknown): boolean {
  const field = getField(schema, root)
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
        value.every((item) => !('items' in field) || looksLikeSchema(field.items, root, item))
      )
    case 'group':
      return isObject(value) && looksLikeGroup(field.members, root, value)
    case 'variants':
      return field.variants.some((variant) => looksLikeSchema(variant.schema, root, value))
    default:
      return (
        field.schema['type'] === undefined ||
        (field.schema['type'] === 'object' ? isObject(value) : Array.isArray(value))
      )
  }
}

function looksLikeGroup(
  members: readonly FieldMember[],
  root: JsonSchema,
  value: { readonly [key: string]: unknown },
): boolean {
  const fits = members.every((member) => {
    const inner = getOwnValue(value, member.key)
    const field = getField(member.schema, root)
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

const MAX_EXAMPLES = 3

/** What a text in a field for numbers means; nothing where it is empty or no number. */
export function parseNumber(text: string): number | undefined {
  const number = Number(text)
  return text.trim() === '' || !Number.isFinite(number) ? undefined : number
}

/** What a text of JSON means, or why it is none; an empty one is nothing. */
export function parseJsonText(text: string): {
  readonly value?: unknown
  readonly problem?: string
} {
  if (text.trim() === '') return {}
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { problem: `This is no JSON: ${(error as Error).message}` }
  }
}

/**
 * What helps to fill in a field: its description, its limits, its default and examples, in short
 * sentences.
 */
export function getHints({ schema, kind }: FormField): readonly string[] {
  const rest = { default: schema['default'], examples: getExamples(schema).slice(0, MAX_EXAMPLES) }
  return [
    toSentence(toNonEmptyText(schema['description'])),
    ...describeLimits(schema),
    rest.default !== undefined && kind !== 'boolean'
      ? `Default: ${toDisplayText(rest.default)}.`
      : undefined,
    rest.examples.length > 0
      ? `For example ${rest.examples.map(toDisplayText).join(', ')}.`
      : undefined,
    schema['deprecated'] === true ? 'Better not used any more.' : undefined,
  ].filter((hint) => hint !== undefined)
}

function toSentence(text: string | undefined): string | undefined {
  return text === undefined || /[.!?:)]\s*$/.test(text) ? text : `${text}.`
}

function describeLimits(schema: { readonly [keyword: string]: unknown }): readonly string[] {
  const {
    minimum,
    maximum,
    exclusiveMinimum,
    exclusiveMaximum,
    multipleOf,
    maxLength,
    minLength,
    minItems,
    maxItems,
    pattern,
    format,
  } = schema
  return [
    describeRange(minimum, maximum, ''),
    typeof exclusiveMinimum === 'number' ? `More than ${exclusiveMinimum}.` : undefined,
    typeof exclusiveMaximum === 'number' ? `Less than ${exclusiveMaximum}.` : undefined,
    typeof multipleOf === 'number' ? `A multiple of ${multipleOf}.` : undefined,
    describeRange(
      minLength === 0 || minLength === 1 ? undefined : minLength,
      maxLength,
      ' characters',
    ),
    describeRange(minItems, maxItems, ' entries'),
    typeof pattern === 'string' ? `Has to match "${pattern}".` : undefined,
    typeof format === 'string' && format !== 'password' && format !== 'path'
      ? `Format: ${format}.`
      : undefined,
  ].filter((limit) => limit !== undefined)
}

// The limits that JSON Schema generators write for whole numbers say nothing to people.
function describeRange(least: unknown, most: unknown, unit: string): string | undefined {
  const from = typeof least === 'number' && least > Number.MIN_SAFE_INTEGER ? least : undefined
  const to = typeof most === 'number' && most < Number.MAX_SAFE_INTEGER ? most : undefined
  if (from !== undefined && to !== undefined) return `${from} to ${to}${unit}.`
  if (from !== undefined) return `At least ${from}${unit}.`
  return to === undefined ? undefined : `At most ${to}${unit}.`
}

/** Something that is wrong with a value, and where: keys and positions from here on. */
export type FormProblem = { readonly path: readonly (string | number)[]; readonly message: string }

const PATH_PART = /\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|\.?([^.[\]]+)/y

/** The parts of a path as messages write it: `filter.max[0]`, `["a b"].c`. */
export function parsePath(text: string): readonly (string | number)[] {
  const parts: (string | number)[] = []
  PATH_PART.lastIndex = 0
  for (let match = PATH_PART.exec(text); match; match = PATH_PART.exec(text)) {
    const [, index, quoted, name] = match
    if (index !== undefined) parts.push(Number(index))
    else parts.push(quoted === undefined ? name! : (JSON.parse(quoted) as string))
  }
  return parts
}

/** The problems inside of a part, as that part sees them. */
export function problemsInside(
  problems: readonly FormProblem[],
  part: string | number,
): readonly FormProblem[] {
  return problems
    .filter(({ path }) => path.length > 0 && path[0] === part)
    .map(({ path, message }) => ({ path: path.slice(1), message }))
}

/**
 * The problems that none of the parts shows: those of the whole, and those of parts that are not
 * drawn.
 */
export function problemsOutside(
  problems: readonly FormProblem[],
  parts: readonly (string | number)[],
): readonly FormProblem[] {
  return problems.filter(({ path }) => path.length === 0 || !parts.includes(path[0]!))
}

const HIDDEN_TEXT = '••••••'

/**
 * A text without the secrets of a value that stand in it: as they are, in JSON, and either of them
 * in quotes of a shell.
 */
export function hideSecrets(text: string, schema: JsonSchema, value: unknown): string {
  return findSecrets(schema, schema, value)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .flatMap((secret) => [secret, secret.replaceAll("'", "'\\''")])
    .sort((left, right) => right.length - left.length)
    .reduce((shown, secret) => shown.replaceAll(secret, HIDDEN_TEXT), text)
}

function findSecrets(schema: unknown, root: JsonSchema, value: unknown): readonly string[] {
  if (value === undefined || value === '') return []
  const field = getField(schema, root)
  if (field.kind === 'text')
    return field.type === 'password' && typeof value === 'string' ? [value] : []
  if (field.kind === 'list')
    return Array.isArray(value) ? value.flatMap((item) => findSecrets(field.items, root, item)) : []
  if (field.kind === 'variants')
    return findSecrets(
      field.variants[findVariant(field.variants, root, value)]!.schema,
      root,
      value,
    )
  if (field.kind !== 'group' || !isObject(value)) return []
  return field.members.flatMap((member) =>
    Object.hasOwn(value, member.key) ? findSecrets(member.schema, root, value[member.key]) : [],
  )
}
