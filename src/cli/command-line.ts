/**
 * Writes an input as a command line that can be pasted into a shell, and matches words with
 * commands.
 */

import { toLookupKey } from '../core/call.ts'
import { getAllowedTypes, getItemSchema, unwrapNullable } from '../define/flag-specs.ts'
import type { FlagSpec } from '../define/global-flags.ts'
import type { ToolsetManifest } from '../protocol/manifest.ts'
import { quoteForShell } from '../util/text.ts'
import type { JsonSchema } from '../util/values.ts'
import { isObject, lazyRegExp } from '../util/values.ts'
import { BUILTIN_NAMES, COMPLETE_COMMAND } from './builtin-names.ts'

type CommandInput = { readonly [field: string]: unknown }

/**
 * An input as a command line that can be pasted in a POSIX shell and is read back as the same
 * input. `program` is written as it is.
 * What cannot be said in flags without doubt is written as one JSON argument. `path` is empty for
 * the only tool of a program.
 * `reserved` are words that the first argument may not be, because they would be taken for a
 * command; the built-in ones need not be named.
 */
export function formatCommandLine(
  program: string,
  path: readonly string[],
  specs: readonly FlagSpec[],
  input: CommandInput,
  reserved: readonly string[] = [],
): string {
  const given: CommandInput = Object.fromEntries(
    Object.entries(input).filter(([, value]) => value !== undefined),
  )
  const words = formatFlags(specs, given, path.length === 0, reserved) ?? [toTypeableJson(given)]
  return [program, ...[...path, ...words].map(quoteForShell)].join(' ')
}

/**
 * Undefined when the input has to be written as JSON. `atProgram` means that no tool name precedes
 * the arguments.
 */
function formatFlags(
  specs: readonly FlagSpec[],
  input: CommandInput,
  atProgram: boolean,
  reserved: readonly string[],
): string[] | undefined {
  const commands = atProgram ? [...reserved, COMPLETE_COMMAND, ...BUILTIN_NAMES] : reserved
  const known = new Set(specs.map((spec) => spec.field))
  if (Object.keys(input).some((field) => !known.has(field))) return undefined
  const positional: string[] = []
  const flags: string[] = []
  let byPosition = true
  for (const spec of specs) {
    if (!Object.hasOwn(input, spec.field)) {
      // Arguments by position have no gaps: what follows an absent one is written as a flag.
      if (spec.positional) byPosition = false
      continue
    }
    const texts = toFlagTexts(spec, input[spec.field])
    if (!texts) return undefined
    byPosition &&=
      spec.positional && isUnambiguous(spec, texts, positional.length === 0 ? commands : [])
    if (byPosition) positional.push(...texts)
    else flags.push(...formatFlag(spec, input[spec.field], texts))
  }
  if (positional.length + flags.length > 0) return [...positional, ...flags]
  // Without any argument the input would be read from stdin, or the program would show its help.
  return atProgram || specs.some((spec) => spec.required) ? undefined : []
}

/** Each value of a field as the text that the declared schema reads as that value again. */
function toFlagTexts(spec: FlagSpec, value: unknown): string[] | undefined {
  if (spec.fedBy !== undefined && spec.fedBy !== 'timeout')
    return isFedByFlag(value, spec) ? [] : undefined
  if (spec.kind === 'boolean') return typeof value === 'boolean' ? [] : undefined
  if (spec.kind === 'object')
    return isObject(value) && !hasNull(value) ? [toTypeableJson(value)] : undefined
  if (spec.kind === 'value') return toListOfOne(toFlagText(value, spec.schema))
  if (
    !Array.isArray(value) ||
    value.length === 0 ||
    Array.isArray(unwrapNullable(spec.schema).prefixItems)
  )
    return undefined
  const items = getItemSchema(spec.schema)
  const texts = value.flatMap((item) => toFlagText(item, items) ?? [])
  // A text that looks like a JSON list could be taken for the whole list.
  return texts.length === value.length && !texts.some((text) => text.trimStart().startsWith('['))
    ? texts
    : undefined
}

function toFlagText(value: unknown, schema: JsonSchema): string | undefined {
  const types = getAllowedTypes(schema)
  if (typeof value === 'string') {
    if (!types.has('string') || !isTypeable(value)) return undefined
    // The word null would be taken for no value where none is allowed.
    return schema.type === 'string' ||
      (types.size === 1 && value !== 'null') ||
      !looksLikeJson(value)
      ? value
      : undefined
  }
  const alone = types.size === 1
  if (typeof value === 'number')
    return alone && types.has('number') && isExactNumber(value) ? JSON.stringify(value) : undefined
  if (typeof value === 'boolean') return alone && types.has('boolean') ? String(value) : undefined
  return isObject(value) && alone && types.has('object') && !hasNull(value)
    ? toTypeableJson(value)
    : undefined
}

function formatFlag(spec: FlagSpec, value: unknown, texts: readonly string[]): string[] {
  if (spec.fedBy === 'verbose' && typeof value === 'number') return [`-${'v'.repeat(value)}`]
  if (texts.length === 0) return [value === false ? `--no-${spec.long}` : `--${spec.long}`]
  return texts.flatMap((text) =>
    text.startsWith('-') ? [`--${spec.long}=${text}`] : [`--${spec.long}`, text],
  )
}

/**
 * True when the texts mean nothing else by position: no flag, no whole input (`{`, `-`, `@file`),
 * no command.
 */
function isUnambiguous(
  spec: FlagSpec,
  texts: readonly string[],
  commands: readonly string[],
): boolean {
  if (spec.kind === 'boolean' || spec.kind === 'object') return false
  const isCommand = commands.some((command) => isSameName(command, texts[0] ?? ''))
  return texts.length > 0 && !isCommand && texts.every((text) => !/^(?:[-@]|\s*[{[])/.test(text))
}

/**
 * `--dry-run` and `--verbose` give true; a field that takes numbers gets how often `-v` was said.
 */
function isFedByFlag(value: unknown, spec: FlagSpec): boolean {
  const types = getAllowedTypes(spec.schema)
  if (types.size !== 1) return false
  if (types.has('boolean')) return value === true
  return (
    spec.fedBy === 'verbose' &&
    types.has('number') &&
    typeof value === 'number' &&
    Number.isInteger(value) &&
    value > 0 &&
    value < 10
  )
}

// JSON escapes what a terminal would act upon, what an argument cannot hold, and what UTF-8 cannot
// carry.
const UNTYPEABLE_CHARACTERS = lazyRegExp('[^\\P{Cc}\\n]|\\p{Surrogate}')

function isTypeable(text: string): boolean {
  return !UNTYPEABLE_CHARACTERS().test(text)
}

function toTypeableJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\x7f-\x9f]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  )
}

function looksLikeJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return /^\s*[[{"]/.test(text) || text.trim() === '' || !Number.isNaN(Number(text))
  }
}

function isExactNumber(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
}

function hasNull(value: unknown): boolean {
  if (value === null) return true
  return typeof value === 'object' && Object.values(value).some(hasNull)
}

function toListOfOne(text: string | undefined): string[] | undefined {
  return text === undefined ? undefined : [text]
}

/** A tool as a command of a program. */
export type CommandManifest = ToolsetManifest['tools'][number]

/** True when the words name the command; `-` and `_` are equal. */
export function matchesCommand(command: CommandManifest, words: readonly string[]): boolean {
  return command.path.length === words.length && isUnderPath(command, words)
}

/** True when the words name the command or a group that holds it. */
export function isUnderPath(command: CommandManifest, words: readonly string[]): boolean {
  return (
    words.length <= command.path.length &&
    words.every((word, index) => isSameName(word, command.path[index]!))
  )
}

/** True for two spellings of one name. */
export function isSameName(left: string, right: string): boolean {
  return toLookupKey(left) === toLookupKey(right)
}
