/**
 * Turns an input into command-line arguments, so that no value can be taken for a flag.
 */

import { ToolError } from '../../protocol/tool-error.ts'
import type { JsonObject } from '../../util/values.ts'
import type { ProgramField, ProgramForm } from './child-call.ts'

const FIELD_NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]*$/u

/**
 * The input as flags: `_` becomes `-`, true is the bare flag, false and null are left out, a list
 * repeats the flag, an object is JSON.
 */
export function toFlagArguments(input: JsonObject): readonly string[] {
  return Object.entries(input).flatMap(([field, value]) => {
    if (!FIELD_NAME.test(field))
      throw new ToolError('INVALID_INPUT', `the field '${field}' cannot be a flag`, {
        field,
        suggestion: 'Use letters, digits, _ . and - in names of fields',
      })
    const flag = `--${field.replaceAll('_', '-')}`
    return Array.isArray(value)
      ? value.flatMap((entry) => toValueArguments(flag, entry))
      : toFieldArguments(flag, value)
  })
}

/** A value as the text of an argument; undefined for null, which is said by leaving it out. */
function toArgumentText(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function toFieldArguments(flag: string, value: unknown): readonly string[] {
  if (typeof value === 'boolean') return value ? [flag] : []
  return toValueArguments(flag, value)
}

// Parsers written by hand in shell scripts seldom know `--flag=value`; for a value that would look
// like a flag it is the only safe form.
function toValueArguments(flag: string, value: unknown): readonly string[] {
  const text = toArgumentText(value)
  if (text === undefined) return []
  return text.startsWith('-') ? [`${flag}=${text}`] : [flag, text]
}

const MAX_REPEATS = 100

/**
 * The input as arguments of an ordinary program, flags before positionals. No value can become a
 * flag: it is attached to its flag, stands behind `--`, or is refused with INVALID_INPUT.
 */
export function buildProgramArgv(given: ProgramForm, input: JsonObject): string[] {
  const form =
    given.noEndOfFlags ||
    !given.fields.some(({ flag }) => flag !== undefined && /^-[^-]./.test(flag))
      ? given
      : { ...given, noEndOfFlags: true as const }
  return buildArgv(form, input)
}

function buildArgv(form: ProgramForm, input: JsonObject): string[] {
  const given = form.fields.filter(
    ({ field }) => Object.hasOwn(input, field) && input[field] !== null,
  )
  const flags = given.flatMap((field) =>
    field.flag === undefined ? [] : toProgramFlag(field, field.flag, input[field.field], form),
  )
  if (form.ordered) checkPositionalOrder(form, given)
  const positionals = given.filter(({ flag }) => flag === undefined)
  const risky = positionals.find(({ field }) => toValueTexts(input[field]).some(looksLikeFlag))
  const values = positionals.flatMap(({ field }) => toValueTexts(input[field]))
  // A flag that takes all values up to the next flag would take the positional arguments too.
  const greedy = given.some((field) => field.together) && values.length > 0
  if (!risky && !greedy) return [...flags, ...values]
  if (form.noEndOfFlags)
    throw toDashValueError(
      risky?.field ?? positionals[0]!.field,
      values.find(looksLikeFlag) ?? values[0]!,
    )
  return [...flags, '--', ...values]
}

function toProgramFlag(
  field: ProgramField,
  flag: string,
  value: unknown,
  form: ProgramForm,
): string[] {
  if (!field.takesValue) return repeatFlag(field, flag, value)
  if (field.valueOptional && typeof value === 'boolean')
    return value ? [flag] : field.negative === undefined ? [] : [field.negative]
  const texts = toValueTexts(value)
  if (!field.together) return texts.flatMap((text) => toFlagWithValue(field, flag, text, form))
  const risky = texts.find(looksLikeFlag)
  if (risky !== undefined && texts.length === 1 && isLongFlag(flag)) return [`${flag}=${risky}`]
  if (risky !== undefined) throw toDashValueError(field.field, risky)
  return texts.length === 0 ? [] : [flag, ...texts]
}

function repeatFlag({ negative }: ProgramField, flag: string, value: unknown): string[] {
  if (value === false) return negative === undefined ? [] : [negative]
  const times =
    typeof value === 'number'
      ? Math.min(MAX_REPEATS, Math.max(0, Math.trunc(value)))
      : value === true
        ? 1
        : 0
  return Array.from({ length: times }, () => flag)
}

function toFlagWithValue(
  { field, separate, valueOptional }: ProgramField,
  flag: string,
  text: string,
  form: ProgramForm,
): string[] {
  if (isShortFlag(flag)) {
    // What is optional belongs to the flag only where it touches it, and an empty text cannot.
    if (valueOptional) return [`${flag}${text}`]
    if (!looksLikeFlag(text)) return [flag, text]
    if (form.noEndOfFlags) throw toDashValueError(field, text)
    return [`${flag}${text}`]
  }
  if (!separate) return [`${flag}=${text}`]
  if (looksLikeFlag(text)) throw toDashValueError(field, text)
  return [flag, text]
}

function checkPositionalOrder({ fields }: ProgramForm, given: readonly ProgramField[]): void {
  const places = fields.filter(({ flag }) => flag === undefined)
  const last = places.findLastIndex((place) => given.includes(place))
  const gap = places
    .slice(0, Math.max(0, last))
    .find((place) => !given.includes(place) && !place.repeatable)
  if (gap) {
    throw new ToolError(
      'INVALID_INPUT',
      `'${places[last]!.field}' stands behind '${gap.field}', which is not given`,
      {
        field: gap.field,
        suggestion: `Give '${gap.field}' too, or leave '${places[last]!.field}' out`,
      },
    )
  }
}

function toValueTexts(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value])
    .filter((one) => one !== null && one !== undefined)
    .map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one)))
}

function isShortFlag(flag: string): boolean {
  return /^-[^-]$/u.test(flag)
}

function isLongFlag(flag: string): boolean {
  return flag.startsWith('--')
}

// A lone dash means stdin or stdout everywhere, and is an option nowhere.
function looksLikeFlag(text: string): boolean {
  return text.startsWith('-') && text !== '-'
}

function toDashValueError(field: string, text: string): ToolError {
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text
  return new ToolError(
    'INVALID_INPUT',
    `'${shown}' begins with a dash, and the program would take it for a flag`,
    { field, suggestion: 'Give a value that does not begin with a dash; write a file as ./-name' },
  )
}

/** Bytes of one argument, its end not counted: the limit of Linux. */
export const MAX_ARGUMENT_BYTES = 131_071

/** Refuses what no command line can carry: INVALID_INPUT that says which argument, and why. */
export function checkArguments(args: readonly string[], wayOut: string): void {
  for (const [index, argument] of args.entries()) {
    const named = (): string => describeArgument(argument, args[index - 1])
    if (argument.includes('\0'))
      throw new ToolError(
        'INVALID_INPUT',
        `${named()} holds a NUL character, which no command line can carry`,
        { suggestion: 'Take the NUL character out' },
      )
    if (/\p{Surrogate}/u.test(argument))
      throw new ToolError(
        'INVALID_INPUT',
        `${named()} holds half a surrogate pair, which no command line can carry`,
        { suggestion: 'Send the text as valid Unicode' },
      )
    const bytes = Buffer.byteLength(argument)
    if (bytes > MAX_ARGUMENT_BYTES) {
      throw new ToolError(
        'INVALID_INPUT',
        `${named()} has ${bytes} bytes, and one argument of a command line has at most ${MAX_ARGUMENT_BYTES}`,
        { details: { bytes, limit: MAX_ARGUMENT_BYTES }, suggestion: wayOut },
      )
    }
  }
}

const FLAG_PATTERN = /^--?[\p{L}\p{N}_.-]+/u

function describeArgument(argument: string, before: string | undefined): string {
  if (argument.startsWith('{'))
    return before?.startsWith('-') ? `the value of ${before}` : 'the input as JSON'
  const flag =
    FLAG_PATTERN.exec(argument.slice(0, 100))?.[0] ??
    (before !== undefined && FLAG_PATTERN.test(before) ? before : undefined)
  return flag === undefined ? 'an argument' : `the value of ${flag}`
}
