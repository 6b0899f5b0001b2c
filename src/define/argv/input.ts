import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { shorten } from '../../contract/shorten.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { flagName } from '../flags/flag-name.ts'
import type { FlagSpec } from '../flags/flag-spec.ts'
import { coerceList, coerceText } from '../schema/coerce.ts'
import type { GivenFlag, Word } from './scan.ts'

type Fields = Record<string, unknown>

/** Builds the input object from flags, words and the environment, each text read by its declared schema only. Throws USAGE or INVALID_INPUT. */
export function inputFromFlags(
  specs: readonly FlagSpec[],
  flags: readonly GivenFlag[],
  words: readonly Word[],
  env: { readonly [name: string]: string | undefined },
): Fields {
  const input: Fields = Object.create(null) as Fields
  const lists = new Map<FlagSpec, { texts: string[]; written: string }>()
  const collect = (spec: FlagSpec, text: string, written: string): void => {
    const list = lists.get(spec)
    if (list) list.texts.push(text)
    else lists.set(spec, { texts: [text], written })
  }

  for (const {
    flag: { spec },
    values,
    negated,
    keys,
    written,
  } of flags) {
    if (!spec) continue
    const text = values[0]
    if (spec.kind === 'boolean')
      input[spec.field] = text === undefined ? !negated : coerce(spec, spec.schema, text, written)
    else if (spec.kind === 'list') collect(spec, text!, written)
    else if (keys.length > 0) setDeep(input, spec, keys, text!, written)
    else
      input[spec.field] = mergeObject(input[spec.field], coerce(spec, spec.schema, text!, written))
  }
  placeWords(specs, words, input, collect)
  for (const [spec, { texts, written }] of lists)
    input[spec.field] = unwrap(coerceList(spec.schema, texts), spec, texts.join(' '), written)
  for (const spec of specs) {
    const text =
      spec.env === undefined || Object.hasOwn(input, spec.field) ? undefined : env[spec.env]
    if (text !== undefined && text !== '')
      input[spec.field] =
        spec.kind === 'list'
          ? unwrap(coerceList(spec.schema, [text]), spec, text, spec.env!)
          : coerce(spec, spec.schema, text, spec.env!)
  }
  return input
}

function placeWords(
  specs: readonly FlagSpec[],
  words: readonly Word[],
  input: Fields,
  collect: (spec: FlagSpec, text: string, written: string) => void,
): void {
  const places = specs.filter((spec) => spec.positional && !Object.hasOwn(input, spec.field))
  for (const { text } of words) {
    const spec = places[0]
    if (!spec) throw tooMany(text, specs)
    if (spec.kind === 'list') {
      collect(spec, text, `<${spec.long}>`)
      continue
    }
    places.shift()
    input[spec.field] = coerce(spec, spec.schema, text, `<${spec.long}>`)
  }
}

function tooMany(text: string, specs: readonly FlagSpec[]): ToolError {
  const shown = shorten(text, 60)
  const flags = specs.filter((spec) => !spec.hidden).map((spec) => `--${spec.long}`)
  return new ToolError('USAGE', `unexpected argument '${shown}'`, {
    suggestion:
      flags.length > 0
        ? `Values are given by flags: ${flags.slice(0, 8).join(', ')}`
        : 'This tool takes no arguments',
  })
}

function setDeep(
  input: Fields,
  spec: FlagSpec,
  keys: readonly string[],
  text: string,
  written: string,
): void {
  let target = input
  let schema = spec.schema
  let field = spec.field
  for (const key of keys) {
    target = openObject(target, field)
    field = declaredKey(schema, key)
    schema = childSchema(schema, field)
  }
  target[field] = coerce(spec, schema, text, written)
}

// A copy without prototype: in it `__proto__` is a key like any other.
function openObject(target: Fields, field: string): Fields {
  const inside = Object.hasOwn(target, field) && isObject(target[field]) ? target[field] : {}
  return (target[field] = Object.assign(Object.create(null) as Fields, inside))
}

// `--filter.max-size 5` means the declared key `maxSize` or `max_size`.
function declaredKey(schema: JsonSchema, key: string): string {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  if (Object.hasOwn(properties, key)) return key
  return Object.keys(properties).find((name) => flagName(name) === flagName(key)) ?? key
}

function childSchema(schema: JsonSchema, key: string): JsonSchema {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const child = Object.hasOwn(properties, key) ? properties[key] : schema['additionalProperties']
  if (isObject(child)) return child
  for (const branch of [schema['anyOf'], schema['oneOf'], schema['allOf']].flat()) {
    if (!isObject(branch)) continue
    const found = childSchema(branch, key)
    if (Object.keys(found).length > 0) return found
  }
  return {}
}

function mergeObject(earlier: unknown, later: unknown): unknown {
  return isObject(earlier) && isObject(later)
    ? Object.assign(Object.create(null) as Fields, later, earlier)
    : later
}

function coerce(spec: FlagSpec, schema: JsonSchema, text: string, written: string): unknown {
  return unwrap(coerceText(schema, text), spec, text, written)
}

function unwrap(
  coerced:
    | { readonly ok: true; readonly value: unknown }
    | { readonly ok: false; readonly message: string },
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
