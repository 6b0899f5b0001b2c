/**
 * Turns an input into command-line arguments, so that no value can be taken for a flag.
 */

import { ToolError } from '../../protocol/tool-error.ts'
import { shorten } from '../../util/text.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
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
    if (typeof value === 'boolean') return value ? [flag] : []
    // Parsers written by hand in shell scripts seldom know `--flag=value`; for a value that would
    // look like a flag it is the only safe form.
    return toTexts(value).flatMap((text) =>
      text.startsWith('-') ? [`${flag}=${text}`] : [flag, text],
    )
  })
}

/** The texts of a value: one for each entry of a list, none for null. */
function toTexts(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value])
    .filter((entry) => entry !== null && entry !== undefined)
    .map((entry) => (typeof entry === 'object' ? JSON.stringify(entry) : String(entry)))
}

const MAX_REPEATS = 100

/**
 * The input as arguments of an ordinary program, flags before positionals. No value can become a
 * flag: it is attached to its flag, follows `--`, or is refused with INVALID_INPUT.
 */
export function buildProgramArgv(form: ProgramForm, input: JsonObject): string[] {
  // Programs with flags like `-name` seldom know `--`.
  const noEndOfFlags =
    form.noEndOfFlags === true || form.fields.some(({ flag = '' }) => /^-[^-]./.test(flag))
  const given = form.fields.filter(
    ({ field }) => Object.hasOwn(input, field) && input[field] !== null,
  )
  const flags = given.flatMap((field) => toProgramFlag(field, input[field.field], noEndOfFlags))
  if (form.ordered) checkPositionalOrder(form, given)
  const values = given
    .filter(({ flag }) => flag === undefined)
    .flatMap(({ field }) => toTexts(input[field]).map((text) => ({ field, text })))
  const risky = values.find(({ text }) => looksLikeFlag(text))
  // A flag that takes all values up to the next flag would take the positional arguments too.
  const isGreedy = values.length > 0 && given.some(({ together }) => together)
  const texts = values.map(({ text }) => text)
  if (!risky && !isGreedy) return [...flags, ...texts]
  const { field, text } = risky ?? values[0]!
  if (noEndOfFlags) throw toDashValueError(field, text)
  return [...flags, '--', ...texts]
}

function toProgramFlag(field: ProgramField, value: unknown, noEndOfFlags: boolean): string[] {
  const { flag, negative } = field
  if (flag === undefined) return []
  if (value === false && (!field.takesValue || field.valueOptional))
    return negative === undefined ? [] : [negative]
  if (!field.takesValue) return repeatFlag(flag, value)
  if (value === true && field.valueOptional) return [flag]
  const texts = toTexts(value)
  if (!field.together)
    return texts.flatMap((text) => toFlagWithValue(field, flag, text, noEndOfFlags))
  const risky = texts.find(looksLikeFlag)
  if (risky === undefined) return texts.length === 0 ? [] : [flag, ...texts]
  if (texts.length === 1 && flag.startsWith('--')) return [`${flag}=${risky}`]
  throw toDashValueError(field.field, risky)
}

function repeatFlag(flag: string, value: unknown): string[] {
  if (value === true) return [flag]
  if (typeof value !== 'number') return []
  const times = Math.min(MAX_REPEATS, Math.max(0, Math.trunc(value)))
  return Array.from({ length: times }, () => flag)
}

function toFlagWithValue(
  { field, separate, valueOptional }: ProgramField,
  flag: string,
  text: string,
  noEndOfFlags: boolean,
): string[] {
  const isRisky = looksLikeFlag(text)
  if (/^-[^-]$/u.test(flag)) {
    // An optional value belongs to the flag only where it touches it, and an empty text cannot.
    if (valueOptional) return [`${flag}${text}`]
    if (!isRisky) return [flag, text]
    if (noEndOfFlags) throw toDashValueError(field, text)
    return [`${flag}${text}`]
  }
  if (!separate) return [`${flag}=${text}`]
  if (isRisky) throw toDashValueError(field, text)
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

// A lone dash means stdin or stdout everywhere, and is an option nowhere.
function looksLikeFlag(text: string): boolean {
  return text.startsWith('-') && text !== '-'
}

function toDashValueError(field: string, text: string): ToolError {
  return new ToolError(
    'INVALID_INPUT',
    `'${shorten(text, 40)}' begins with a dash, and the program would take it for a flag`,
    { field, suggestion: 'Give a value that does not begin with a dash; write a file as ./-name' },
  )
}

/** Bytes of one argument, its end not counted: the limit of Linux. */
export const MAX_ARGUMENT_BYTES = 131_071

/** Refuses what no command line can carry: INVALID_INPUT that says which argument, and why. */
export function checkArguments(args: readonly string[], tooLargeFix: string): void {
  for (const [index, argument] of args.entries()) {
    const refuse = (problem: string, suggestion: string, details?: JsonObject): never => {
      const message = `${describeArgument(argument, args[index - 1])} ${problem}`
      throw new ToolError('INVALID_INPUT', message, compact({ details, suggestion }))
    }
    if (argument.includes('\0'))
      refuse('holds a NUL character, which no command line can carry', 'Take the NUL character out')
    if (/\p{Surrogate}/u.test(argument))
      refuse(
        'holds half a surrogate pair, which no command line can carry',
        'Send the text as valid Unicode',
      )
    const bytes = Buffer.byteLength(argument)
    if (bytes > MAX_ARGUMENT_BYTES)
      refuse(
        `has ${bytes} bytes, and one argument of a command line has at most ${MAX_ARGUMENT_BYTES}`,
        tooLargeFix,
        { bytes, limit: MAX_ARGUMENT_BYTES },
      )
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
