import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { parseJson } from './parse-json.ts'
import { listOf, ownKeyword, typesOf } from './subschemas.ts'
import { joinWith, nameType, sayChoices, sayType, showValue } from './words.ts'

export type Coerced<Value = unknown> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly message: string }

const DECIMAL = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/
const YES = new Set(['true', 'yes', '1', 'on'])
const NO = new Set(['false', 'no', '0', 'off'])

/** Turns one text of a command line or an environment into a value, by the declared schema only. Never throws; limits and formats are left to the check. */
export function coerceText(schema: JsonSchema, text: string): Coerced {
  const kinds = kindsOf(schema)
  if (kinds.length === 0) return coerceUntyped(text)
  if (kinds.length === 1) return coerceKind(kinds[0]!, text)
  return coerceUnion(kinds, text)
}

/** Turns the texts of a repeated flag into a list, each by the schema of its item. A single text that is a JSON list is the whole list. */
export function coerceList(schema: JsonSchema, texts: readonly string[]): Coerced<unknown[]> {
  const list = kindsOf(schema).find((kind) => kind.type === 'array')?.schema ?? schema
  if (texts.length === 1 && texts[0]!.trimStart().startsWith('[')) {
    const whole = parseJson(texts[0]!)
    if (whole.ok && Array.isArray(whole.value)) return { ok: true, value: whole.value as unknown[] }
    // `[a-z]*.ts` is a text like any other where texts are wanted.
    if (!whole.ok && !kindsOf(itemSchema(list, 0)).some((kind) => kind.type === 'string'))
      return { ok: false, message: whole.message }
  }
  const values: unknown[] = []
  for (const [index, text] of texts.entries()) {
    const coerced = coerceText(itemSchema(list, index), text)
    if (!coerced.ok)
      return {
        ok: false,
        message: texts.length === 1 ? coerced.message : `item ${index + 1} ${coerced.message}`,
      }
    values.push(coerced.value)
  }
  return { ok: true, value: values }
}

// One way to read a text: as one of some choices, or as a value of one type.
type Kind = {
  readonly schema: JsonSchema
  readonly type?: string
  readonly choices?: readonly unknown[]
}

function kindsOf(schema: JsonSchema, depth = 0): Kind[] {
  if (depth > 8) return []
  if (Object.hasOwn(schema, 'const')) return [{ schema, choices: [schema['const']] }]
  const choices = ownKeyword(schema, 'enum')
  if (Array.isArray(choices)) return [{ schema, choices }]
  const types = typesOf(schema)
  if (types) return types.map((type) => ({ schema, type }))
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
    const kinds = listOf(schema, keyword).flatMap((member) =>
      typeof member === 'boolean' ? [] : kindsOf(member, depth + 1),
    )
    // Of an intersection the first member that names a type tells how to read.
    if (kinds.length > 0) return keyword === 'allOf' ? kinds.slice(0, 1) : kinds
  }
  if (Object.hasOwn(schema, 'properties') || Object.hasOwn(schema, 'additionalProperties'))
    return [{ schema, type: 'object' }]
  return Object.hasOwn(schema, 'items') || Object.hasOwn(schema, 'prefixItems')
    ? [{ schema, type: 'array' }]
    : []
}

function coerceKind({ type, choices }: Kind, text: string): Coerced {
  if (choices) return coerceChoice(choices, text)
  if (type === 'integer' || type === 'number') return coerceNumber(type, text)
  if (type === 'boolean') return coerceBoolean(text)
  if (type === 'null')
    return text === 'null'
      ? { ok: true, value: null }
      : { ok: false, message: sayType(['null'], text) }
  if (type === 'object' || type === 'array') return coerceStructure(type, text)
  return { ok: true, value: text }
}

function coerceChoice(choices: readonly unknown[], text: string): Coerced {
  const found =
    choices.find((choice) => choice === text) ?? choices.find((choice) => textOf(choice) === text)
  return found === undefined
    ? { ok: false, message: sayChoices(choices.map(textOf), text).message }
    : { ok: true, value: found }
}

function coerceNumber(type: 'integer' | 'number', text: string): Coerced {
  const number = DECIMAL.test(text) ? Number(text) : NaN
  if (!Number.isFinite(number) || (type === 'integer' && !Number.isInteger(number)))
    return { ok: false, message: sayType([type], text) }
  if (
    Number.isInteger(number) &&
    !Number.isSafeInteger(number) &&
    (type === 'integer' || /^[+-]?\d+$/.test(text))
  ) {
    return { ok: false, message: `is too large to be kept exactly, got ${showValue(text)}` }
  }
  return { ok: true, value: number }
}

function coerceBoolean(text: string): Coerced {
  const word = text.toLowerCase()
  if (YES.has(word)) return { ok: true, value: true }
  return NO.has(word)
    ? { ok: true, value: false }
    : { ok: false, message: sayType(['boolean'], text) }
}

function coerceStructure(type: 'object' | 'array', text: string): Coerced {
  const parsed = parseJson(text)
  if (!parsed.ok)
    return { ok: false, message: `must be ${nameType(type)} as JSON: ${parsed.message}` }
  const isRight = type === 'array' ? Array.isArray(parsed.value) : isObject(parsed.value)
  return isRight ? parsed : { ok: false, message: sayType([type], parsed.value) }
}

// Where text is allowed too, another reading must give back exactly the text: 1.10 and 007 stay text, 5 does not.
function coerceUnion(kinds: readonly Kind[], text: string): Coerced {
  const takesText = kinds.some((kind) => kind.type === 'string')
  const chosen = kinds
    .filter((kind) => kind.choices)
    .map((kind) => coerceKind(kind, text))
    .find((coerced) => coerced.ok)
  if (chosen) return chosen
  const read = kinds
    .filter(({ type, choices }) => !choices && type !== 'string')
    .map((kind) => coerceKind(kind, text))
    .filter((coerced) => coerced.ok)
  const exact = read.find(
    ({ value }) => isObject(value) || Array.isArray(value) || String(value) === text,
  )
  if (exact) return exact
  if (takesText) return { ok: true, value: text }
  if (read[0]) return read[0]
  return { ok: false, message: refuseUnion(kinds, text) }
}

function refuseUnion(kinds: readonly Kind[], text: string): string {
  const structure = kinds.find(
    ({ type }) =>
      (type === 'object' && /^\s*\{/.test(text)) || (type === 'array' && /^\s*\[/.test(text)),
  )
  const broken = structure && coerceKind(structure, text)
  if (broken && !broken.ok) return broken.message
  const choices = kinds.flatMap((kind) => kind.choices ?? [])
  const types = [...new Set(kinds.flatMap((kind) => kind.type ?? []))]
  if (types.every((type) => type === 'null'))
    return sayChoices([...choices, ...types].map(textOf), text).message
  return `must be ${joinWith('or', [...choices.map(showValue), ...types.map(nameType)])}, got ${showValue(text)}`
}

function coerceUntyped(text: string): Coerced {
  const parsed = parseJson(text)
  // 1e999 is JSON, but no number can hold it.
  return parsed.ok && parsed.value !== Infinity && parsed.value !== -Infinity
    ? parsed
    : { ok: true, value: text }
}

function itemSchema(list: JsonSchema, index: number): JsonSchema {
  const first = listOf(list, 'prefixItems')
  const item = index < first.length ? first[index] : ownKeyword(list, 'items')
  return isObject(item) ? item : {}
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
