import type { JsonObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { ProgramField, ProgramForm } from './program-form.ts'

const MOST_REPEATS = 100

/** The input as arguments of an ordinary program, flags before positionals. No value can become a flag: it is attached to its flag, stands behind `--`, or is refused with INVALID_INPUT. */
export function buildProgramArgv(given: ProgramForm, input: JsonObject): string[] {
  const form =
    given.noEndOfFlags ||
    !given.fields.some(({ flag }) => flag !== undefined && /^-[^-]./.test(flag))
      ? given
      : { ...given, noEndOfFlags: true as const }
  return build(form, input)
}

function build(form: ProgramForm, input: JsonObject): string[] {
  const given = form.fields.filter(
    ({ field }) => Object.hasOwn(input, field) && input[field] !== null,
  )
  const flags = given.flatMap((field) =>
    field.flag === undefined ? [] : flagOf(field, field.flag, input[field.field], form),
  )
  if (form.ordered) requireOrder(form, given)
  const positionals = given.filter(({ flag }) => flag === undefined)
  const risky = positionals.find(({ field }) => textsOf(input[field]).some(looksLikeFlag))
  const values = positionals.flatMap(({ field }) => textsOf(input[field]))
  // A flag that takes all values up to the next flag would take the positional arguments too.
  const greedy = given.some((field) => field.together) && values.length > 0
  if (!risky && !greedy) return [...flags, ...values]
  if (form.noEndOfFlags)
    throw refuse(risky?.field ?? positionals[0]!.field, values.find(looksLikeFlag) ?? values[0]!)
  return [...flags, '--', ...values]
}

function flagOf(field: ProgramField, flag: string, value: unknown, form: ProgramForm): string[] {
  if (!field.takesValue) return repeat(field, flag, value)
  if (field.valueOptional && typeof value === 'boolean')
    return value ? [flag] : field.negative === undefined ? [] : [field.negative]
  const texts = textsOf(value)
  if (!field.together) return texts.flatMap((text) => valueOf(field, flag, text, form))
  const risky = texts.find(looksLikeFlag)
  if (risky !== undefined && texts.length === 1 && isDouble(flag)) return [`${flag}=${risky}`]
  if (risky !== undefined) throw refuse(field.field, risky)
  return texts.length === 0 ? [] : [flag, ...texts]
}

function repeat({ negative }: ProgramField, flag: string, value: unknown): string[] {
  if (value === false) return negative === undefined ? [] : [negative]
  const times =
    typeof value === 'number'
      ? Math.min(MOST_REPEATS, Math.max(0, Math.trunc(value)))
      : value === true
        ? 1
        : 0
  return Array.from({ length: times }, () => flag)
}

function valueOf(
  { field, separate, valueOptional }: ProgramField,
  flag: string,
  text: string,
  form: ProgramForm,
): string[] {
  if (isShort(flag)) {
    // What is optional belongs to the flag only where it touches it, and an empty text cannot.
    if (valueOptional) return [`${flag}${text}`]
    if (!looksLikeFlag(text)) return [flag, text]
    if (form.noEndOfFlags) throw refuse(field, text)
    return [`${flag}${text}`]
  }
  if (!separate) return [`${flag}=${text}`]
  if (looksLikeFlag(text)) throw refuse(field, text)
  return [flag, text]
}

function requireOrder({ fields }: ProgramForm, given: readonly ProgramField[]): void {
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

function textsOf(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value])
    .filter((one) => one !== null && one !== undefined)
    .map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one)))
}

function isShort(flag: string): boolean {
  return /^-[^-]$/u.test(flag)
}

function isDouble(flag: string): boolean {
  return flag.startsWith('--')
}

// A lone dash means stdin or stdout everywhere, and is an option nowhere.
function looksLikeFlag(text: string): boolean {
  return text.startsWith('-') && text !== '-'
}

function refuse(field: string, text: string): ToolError {
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text
  return new ToolError(
    'INVALID_INPUT',
    `'${shown}' begins with a dash, and the program would take it for a flag`,
    { field, suggestion: 'Give a value that does not begin with a dash; write a file as ./-name' },
  )
}
