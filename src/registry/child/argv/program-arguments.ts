import type { JsonObject } from '../../../contract/json.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import type { ProgramField, ProgramForm } from '../../help/program-form.ts'
import { textOf } from './flag-arguments.ts'

const SHORT = /^-[^-]$/
const MOST_REPEATS = 100

/** The input as arguments of an ordinary program, flags before positionals. No value can become a flag: it is attached to its flag, stands behind `--`, or is refused. */
export function programArguments({ fields }: ProgramForm, input: JsonObject): readonly string[] {
  const given = fields.filter(({ field }) => Object.hasOwn(input, field))
  const flags = given.flatMap((field) => (field.flag === undefined ? [] : flagOf(field, field.flag, input[field.field])))
  const positionals = given.flatMap((field) => (field.flag === undefined ? textsOf(input[field.field]) : []))
  const risky = positionals.find(looksLikeFlag)
  if (risky === undefined) return [...flags, ...positionals]
  // Programs with flags like `-name` read on behind `--`.
  if (fields.some(({ flag }) => isLongWithOneDash(flag))) throw refuse(given.find(({ flag }) => flag === undefined)!.field, risky)
  return [...flags, '--', ...positionals]
}

function flagOf(field: ProgramField, flag: string, value: unknown): readonly string[] {
  if (!field.takesValue) return Array.from({ length: timesOf(value) }, () => flag)
  return textsOf(value).flatMap((text) => valueOf(field, flag, text))
}

function timesOf(value: unknown): number {
  if (typeof value === 'number') return Math.min(MOST_REPEATS, Math.max(0, Math.trunc(value)))
  return value === true ? 1 : 0
}

function valueOf({ field, separate }: ProgramField, flag: string, text: string): readonly string[] {
  if (SHORT.test(flag)) return text === '' || (separate && !looksLikeFlag(text)) ? [flag, text] : [`${flag}${text}`]
  if (!separate) return [`${flag}=${text}`]
  if (looksLikeFlag(text)) throw refuse(field, text)
  return [flag, text]
}

function textsOf(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).map(textOf).filter((text) => text !== undefined)
}

// A lone dash means stdin or stdout everywhere, and is an option nowhere.
function looksLikeFlag(text: string): boolean {
  return text.startsWith('-') && text !== '-'
}

function isLongWithOneDash(flag: string | undefined): boolean {
  return flag !== undefined && /^-[^-]./.test(flag)
}

function refuse(field: string, text: string): ToolError {
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text
  return new ToolError('INVALID_INPUT', `'${shown}' begins with a dash, and the program would take it for a flag`, { field, suggestion: 'Give a value that does not begin with a dash; write a file as ./-name' })
}
