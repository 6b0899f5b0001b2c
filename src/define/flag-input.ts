/**
 * Builds the input object from flags, positional words and environment variables. Each text is
 * converted by the schema of its field and by nothing else.
 */

import { parseJson } from '../protocol/parse-json.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { shorten } from '../util/text.ts'
import type { JsonSchema } from '../util/values.ts'
import { isObject } from '../util/values.ts'
import type { ArgvWord, ParsedFlag } from './argv.ts'
import { toFlagName } from './argv.ts'
import type { FlagSpec } from './global-flags.ts'
import {
  describeChoiceMismatch,
  describeTypeMismatch,
  formatValue,
  getKeyword,
  getSchemaList,
  joinWords,
  nameType,
} from './schema/subschemas.ts'

type InputRecord = Record<string, unknown>

/**
 * Builds the input object from flags, words and the environment, each text read by its declared
 * schema only. Throws USAGE or INVALID_INPUT.
 */
export function buildInputFromFlags(
  specs: readonly FlagSpec[],
  flags: readonly ParsedFlag[],
  words: readonly ArgvWord[],
  env: { readonly [name: string]: string | undefined },
): InputRecord {
  const input: InputRecord = Object.create(null) as InputRecord
  const lists = new Map<FlagSpec, { texts: string[]; written: string }>()
  const collect = (spec: FlagSpec, text: string, written: string): void => {
    const list = lists.get(spec)
    if (list) list.texts.push(text)
    else lists.set(spec, { texts: [text], written })
  }

  for (const { flag, values, negated, keys, written } of flags) {
    const { spec } = flag
    if (!spec) continue
    const [text] = values
    if (spec.kind === 'boolean')
      input[spec.field] =
        text === undefined ? !negated : coerceFlagText(spec, spec.schema, text, written)
    else if (spec.kind === 'list') collect(spec, text!, written)
    else if (keys.length > 0) setNestedValue(input, spec, keys, text!, written)
    else setOrMerge(input, spec.field, coerceFlagText(spec, spec.schema, text!, written))
  }
  assignPositionals(specs, words, input, collect)
  for (const [spec, { texts, written }] of lists)
    input[spec.field] = requireCoerced(
      coerceList(spec.schema, texts),
      spec,
      texts.join(' '),
      written,
    )
  for (const spec of specs) {
    const { field, env: variable, kind, schema } = spec
    if (variable === undefined || Object.hasOwn(input, field)) continue
    const text = env[variable] ?? ''
    if (text === '') continue
    const value = kind === 'list' ? coerceList(schema, [text]) : coerceText(schema, text)
    input[field] = requireCoerced(value, spec, text, variable)
  }
  return input
}

function assignPositionals(
  specs: readonly FlagSpec[],
  words: readonly ArgvWord[],
  input: InputRecord,
  collect: (spec: FlagSpec, text: string, written: string) => void,
): void {
  const places = specs.filter((spec) => spec.positional && !Object.hasOwn(input, spec.field))
  for (const { text } of words) {
    const spec = places[0]
    if (!spec) throw createExtraArgumentError(text, specs)
    if (spec.kind === 'list') {
      collect(spec, text, `<${spec.long}>`)
      continue
    }
    places.shift()
    input[spec.field] = coerceFlagText(spec, spec.schema, text, `<${spec.long}>`)
  }
}

function createExtraArgumentError(text: string, specs: readonly FlagSpec[]): ToolError {
  const shown = shorten(text, 60)
  const flags = specs.filter((spec) => !spec.hidden).map((spec) => `--${spec.long}`)
  return new ToolError('USAGE', `unexpected argument '${shown}'`, {
    suggestion:
      flags.length > 0
        ? `Values are given by flags: ${flags.slice(0, 8).join(', ')}`
        : 'This tool takes no arguments',
  })
}

function setNestedValue(
  input: InputRecord,
  spec: FlagSpec,
  keys: readonly string[],
  text: string,
  written: string,
): void {
  let target = input
  let schema = spec.schema
  let field = spec.field
  for (const key of keys) {
    target = openNestedObject(target, field)
    field = findDeclaredKey(schema, key)
    schema = findChildSchema(schema, field)
  }
  target[field] = coerceFlagText(spec, schema, text, written)
}

// A copy without prototype: in it `__proto__` is a key like any other.
function openNestedObject(target: InputRecord, field: string): InputRecord {
  const inside = Object.hasOwn(target, field) && isObject(target[field]) ? target[field] : {}
  return (target[field] = Object.assign(Object.create(null) as InputRecord, inside))
}

// `--filter.max-size 5` means the declared key `maxSize` or `max_size`.
function findDeclaredKey(schema: JsonSchema, key: string): string {
  const properties = getProperties(schema)
  if (Object.hasOwn(properties, key)) return key
  return Object.keys(properties).find((name) => toFlagName(name) === toFlagName(key)) ?? key
}

function getProperties({ properties }: JsonSchema): InputRecord {
  return isObject(properties) ? properties : {}
}

function findChildSchema(schema: JsonSchema, key: string): JsonSchema {
  const properties = getProperties(schema)
  const child = Object.hasOwn(properties, key) ? properties[key] : schema['additionalProperties']
  if (isObject(child)) return child
  for (const branch of [schema['anyOf'], schema['oneOf'], schema['allOf']].flat()) {
    if (!isObject(branch)) continue
    const found = findChildSchema(branch, key)
    if (Object.keys(found).length > 0) return found
  }
  return {}
}

// `--filter.size 5 --filter '{"name":"a"}'` has both.
function setOrMerge(input: InputRecord, field: string, value: unknown): void {
  const before = input[field]
  input[field] =
    before !== undefined && isObject(before) && isObject(value)
      ? Object.assign(Object.create(null) as InputRecord, value, before)
      : value
}

function coerceFlagText(
  spec: FlagSpec,
  schema: JsonSchema,
  text: string,
  written: string,
): unknown {
  return requireCoerced(coerceText(schema, text), spec, text, written)
}

function requireCoerced(
  coerced: CoerceResult,
  spec: FlagSpec,
  text: string,
  written: string,
): unknown {
  if (coerced.ok) return coerced.value
  const looksLikeFlag = text.startsWith('--') ? `; was the value of ${written} left out?` : ''
  throw new ToolError('INVALID_INPUT', `${written} ${coerced.message}${looksLikeFlag}`, {
    field: spec.field,
    suggestion: spec.choices
      ? `Use one of ${spec.choices.join(', ')}`
      : `Give ${written} <${spec.valueName}>`,
  })
}

export type CoerceResult<Value = unknown> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly message: string }

const DECIMAL = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/
const TRUE_WORDS = new Set(['true', 'yes', '1', 'on'])
const FALSE_WORDS = new Set(['false', 'no', '0', 'off'])

/**
 * Turns one text of a command line or an environment into a value, by the declared schema only.
 * Never throws; limits and formats are left to the check.
 */
export function coerceText(schema: JsonSchema, text: string): CoerceResult {
  const kinds = listKinds(schema)
  if (kinds.length === 0) return coerceUntyped(text)
  if (kinds.length === 1) return coerceKind(kinds[0]!, text)
  return coerceUnion(kinds, text)
}

/**
 * Turns the texts of a repeated flag into a list, each by the schema of its item. A single text
 * that is a JSON list is the whole list.
 */
export function coerceList(schema: JsonSchema, texts: readonly string[]): CoerceResult<unknown[]> {
  const list = listKinds(schema).find((kind) => kind.type === 'array')?.schema ?? schema
  if (texts.length === 1 && texts[0]!.trimStart().startsWith('[')) {
    const whole = parseJson(texts[0]!)
    if (whole.ok && Array.isArray(whole.value)) return { ok: true, value: whole.value as unknown[] }
    // `[a-z]*.ts` is a text like any other where texts are wanted.
    if (!whole.ok && !listKinds(getItemSchemaAt(list, 0)).some((kind) => kind.type === 'string'))
      return { ok: false, message: whole.message }
  }
  const values: unknown[] = []
  for (const [index, text] of texts.entries()) {
    const coerced = coerceText(getItemSchemaAt(list, index), text)
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
type CoercionKind = {
  readonly schema: JsonSchema
  readonly type?: string
  readonly choices?: readonly unknown[]
}

function listKinds(schema: JsonSchema, depth = 0): CoercionKind[] {
  if (depth > 8) return []
  if (Object.hasOwn(schema, 'const')) return [{ schema, choices: [schema['const']] }]
  if (Array.isArray(schema.enum)) return [{ schema, choices: schema.enum }]
  const types = [schema.type].flat().filter((type) => typeof type === 'string')
  if (types.length > 0) return types.map((type) => ({ schema, type }))
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
    const kinds = getSchemaList(schema, keyword).flatMap((member) =>
      typeof member === 'boolean' ? [] : listKinds(member, depth + 1),
    )
    // Of an intersection, the first member that names a type decides.
    if (kinds.length > 0) return keyword === 'allOf' ? kinds.slice(0, 1) : kinds
  }
  if (Object.hasOwn(schema, 'properties') || Object.hasOwn(schema, 'additionalProperties'))
    return [{ schema, type: 'object' }]
  return Object.hasOwn(schema, 'items') || Object.hasOwn(schema, 'prefixItems')
    ? [{ schema, type: 'array' }]
    : []
}

function coerceKind({ type, choices }: CoercionKind, text: string): CoerceResult {
  if (choices) return coerceChoice(choices, text)
  if (type === 'integer' || type === 'number') return coerceNumber(type, text)
  if (type === 'boolean') return coerceBoolean(text)
  if (type === 'null')
    return text === 'null'
      ? { ok: true, value: null }
      : { ok: false, message: describeTypeMismatch(['null'], text) }
  if (type === 'object' || type === 'array') return coerceStructure(type, text)
  return { ok: true, value: text }
}

function coerceChoice(choices: readonly unknown[], text: string): CoerceResult {
  const found =
    choices.find((choice) => choice === text) ??
    choices.find((choice) => toChoiceText(choice) === text)
  return found === undefined
    ? { ok: false, message: describeChoiceMismatch(choices.map(toChoiceText), text).message }
    : { ok: true, value: found }
}

function coerceNumber(type: 'integer' | 'number', text: string): CoerceResult {
  const number = DECIMAL.test(text) ? Number(text) : NaN
  if (!Number.isFinite(number) || (type === 'integer' && !Number.isInteger(number)))
    return { ok: false, message: describeTypeMismatch([type], text) }
  if (
    Number.isInteger(number) &&
    !Number.isSafeInteger(number) &&
    (type === 'integer' || /^[+-]?\d+$/.test(text))
  ) {
    return { ok: false, message: `is too large to be kept exactly, got ${formatValue(text)}` }
  }
  return { ok: true, value: number }
}

function coerceBoolean(text: string): CoerceResult {
  const word = text.toLowerCase()
  if (TRUE_WORDS.has(word)) return { ok: true, value: true }
  return FALSE_WORDS.has(word)
    ? { ok: true, value: false }
    : { ok: false, message: describeTypeMismatch(['boolean'], text) }
}

function coerceStructure(type: 'object' | 'array', text: string): CoerceResult {
  const parsed = parseJson(text)
  if (!parsed.ok)
    return { ok: false, message: `must be ${nameType(type)} as JSON: ${parsed.message}` }
  const isRight = type === 'array' ? Array.isArray(parsed.value) : isObject(parsed.value)
  return isRight ? parsed : { ok: false, message: describeTypeMismatch([type], parsed.value) }
}

// Where text is allowed too, another reading must give back exactly the text: 1.10 and 007 stay
// text, 5 does not.
function coerceUnion(kinds: readonly CoercionKind[], text: string): CoerceResult {
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
  return { ok: false, message: describeUnionMismatch(kinds, text) }
}

function describeUnionMismatch(kinds: readonly CoercionKind[], text: string): string {
  const structure = kinds.find(
    ({ type }) =>
      (type === 'object' && /^\s*\{/.test(text)) || (type === 'array' && /^\s*\[/.test(text)),
  )
  const broken = structure && coerceKind(structure, text)
  if (broken && !broken.ok) return broken.message
  const choices = kinds.flatMap((kind) => kind.choices ?? [])
  const types = [...new Set(kinds.flatMap((kind) => kind.type ?? []))]
  if (types.every((type) => type === 'null'))
    return describeChoiceMismatch([...choices, ...types].map(toChoiceText), text).message
  return `must be ${joinWords('or', [...choices.map(formatValue), ...types.map(nameType)])}, got ${formatValue(text)}`
}

function coerceUntyped(text: string): CoerceResult {
  const parsed = parseJson(text)
  // 1e999 is JSON, but no number can hold it.
  return parsed.ok && parsed.value !== Infinity && parsed.value !== -Infinity
    ? parsed
    : { ok: true, value: text }
}

function getItemSchemaAt(list: JsonSchema, index: number): JsonSchema {
  const first = getSchemaList(list, 'prefixItems')
  const item = index < first.length ? first[index] : getKeyword(list, 'items')
  return isObject(item) ? item : {}
}

function toChoiceText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
