import type { JsonSchema } from '../../contract/json.ts'
import type { ForeignFacts } from '../found.ts'
import type { HelpDocument, HelpOption, HelpPositional } from './help-document.ts'
import type { ProgramField, ProgramForm } from './program-form.ts'
import type { UnderstoodHelp } from './read-help.ts'
import { understandHelp } from './read-help.ts'

/** A program, or one command of it, as a tool. */
export type ProgramFacts = { readonly facts: ForeignFacts; readonly program: ProgramForm }

const LEFT_OUT = /^--?(?:help|version|usage|help-all|h|\?)$/i
const INTEGERS =
  /^(?:n|num|number|int|integer|count|uint|int32|int64|uint32|uint64|nr|lines|cols|columns|depth|limit)$/i
const NUMBERS = /^(?:float|double|decimal)$/i
const UNSAFE = new Set(['__proto__', 'constructor', 'prototype'])
const LONGEST_NAME = 64

/** What a help text makes of a program as a tool, or undefined where the text says nothing. */
export function readProgramHelp(text: string, name: string): ProgramFacts | undefined {
  const help = understandHelp(text)
  const { options, positionals, usage } = help.document
  return options.length === 0 && positionals.length === 0 && usage === ''
    ? undefined
    : programFacts(help, name)
}

/** The facts of a tool, and how its input becomes arguments. */
export function programFacts(
  { document, written, single }: UnderstoodHelp,
  name: string,
): ProgramFacts {
  const properties: { [field: string]: JsonSchema } = Object.create(null) as {}
  const required: string[] = []
  const fields: ProgramField[] = []
  const singleDash = document.options.some(({ long }) =>
    long.some((flag) => !flag.startsWith('--')),
  )
  for (const option of document.options) {
    const field = optionField(option, written.get(option) ?? 'space', singleDash)
    if (!field || field.field in properties) continue
    properties[field.field] = optionSchema(option, field, singleDash)
    fields.push(field)
    if (option.required) required.push(field.field)
  }
  for (const positional of document.positionals) {
    const field = positionalField(positional, properties)
    if (field === undefined) continue
    properties[field] = positionalSchema(positional)
    fields.push({ field, takesValue: true, ...(positional.repeatable && { repeatable: true }) })
    if (positional.required) required.push(field)
  }
  const inputSchema: JsonSchema = {
    type: 'object',
    properties: { ...properties },
    additionalProperties: false,
    ...(required.length > 0 && { required }),
  }
  return {
    facts: { ...describe(document, name), inputSchema },
    program: {
      fields,
      ...(singleDash && { noEndOfFlags: true }),
      ...(single && { ordered: true }),
    },
  }
}

function describe(
  { description, usage }: HelpDocument,
  name: string,
): Pick<ForeignFacts, 'summary' | 'description'> {
  const first = description.split('\n', 1)[0]!.trim()
  const summary = first === '' ? name : (/^.{1,197}?[.!?](?=\s|$)/.exec(first)?.[0] ?? first)
  const whole = [description, usage === '' ? '' : `Usage: ${usage}`]
    .filter((part) => part !== '')
    .join('\n\n')
  return { summary: summary.slice(0, 200), ...(whole !== '' && { description: whole }) }
}

function optionField(
  option: HelpOption,
  written: 'equals' | 'space' | 'stuck',
  singleDash: boolean,
): ProgramField | undefined {
  const names = [...option.long, ...option.short]
  if (
    names.length === 0 ||
    names.some((flag) => LEFT_OUT.test(flag) && flag !== '-h') ||
    (names.length === 1 && names[0] === '-h' && /help/i.test(option.description))
  )
    return undefined
  const positive = option.long.find((flag) => !/^--no-?/.test(flag)) ?? names[0]!
  const negative = option.long.find(
    (flag) => flag !== positive && flag.replace(/^--no-?/, '--') === positive,
  )
  const field = nameOf(positive)
  if (field === undefined) return undefined
  const double = positive.startsWith('--')
  const separate =
    option.takesValue &&
    (double ? singleDash && written === 'space' : written === 'space' || positive.length === 2)
  return {
    field,
    flag: positive,
    takesValue: option.takesValue || option.valueOptional === true,
    ...(negative !== undefined && { negative }),
    ...(option.valueOptional && { valueOptional: true }),
    ...(separate && { separate: true }),
    ...(option.repeatable && { repeatable: true }),
    ...(option.takesValue && written === 'space' && isTogether(option) && { together: true }),
  }
}

/** `--max-depth` is the field `max_depth`, `-x` is `x`. */
function nameOf(flag: string): string | undefined {
  const name = flag
    .replace(/^-+/, '')
    .replace(/[^\p{L}\d]+/gu, '_')
    .replace(/^_+|_+$/g, '')
  return name === '' || name.length > LONGEST_NAME || UNSAFE.has(name) ? undefined : name
}

/** argparse takes `--files a b c` in one go: `FILE [FILE ...]`. */
function isTogether({ valueName, repeatable }: HelpOption): boolean {
  const words = (valueName ?? '').split(' ')
  return words.length > 1 && (repeatable || words.every((word) => /^[A-Z][A-Z0-9_]*$/.test(word)))
}

function optionSchema(option: HelpOption, field: ProgramField, singleDash: boolean): JsonSchema {
  const description = { ...(option.description !== '' && { description: option.description }) }
  if (!field.takesValue)
    return option.repeatable
      ? { type: 'integer', minimum: 0, maximum: 10, ...description }
      : { type: 'boolean', ...description }
  const value = valueSchema(option, singleDash)
  if (field.together) return { type: 'array', items: value, minItems: 1, ...description }
  if (option.repeatable) return { type: 'array', items: value, ...description }
  if (option.valueOptional) return { anyOf: [value, { type: 'boolean' }], ...description }
  return { ...value, ...description }
}

function valueSchema(
  { valueName, choices, default: byDefault }: HelpOption,
  singleDash: boolean,
): JsonSchema {
  if (choices.length > 1) return { type: 'string', enum: [...choices] }
  const fits = byDefault === null || /^-?\d+$/.test(byDefault)
  // find means more than a number by N.
  if (
    valueName !== null &&
    INTEGERS.test(valueName) &&
    fits &&
    !(singleDash && valueName.length === 1)
  )
    return { type: 'integer' }
  if (valueName !== null && NUMBERS.test(valueName)) return { type: 'number' }
  return { type: 'string' }
}

function positionalField(
  { name }: HelpPositional,
  taken: { readonly [field: string]: unknown },
): string | undefined {
  const plain = nameOf(name.toLowerCase())
  if (plain === undefined) return undefined
  const field = plain in taken ? `${plain}_argument` : plain
  return field in taken ? undefined : field
}

function positionalSchema({ choices, repeatable, description }: HelpPositional): JsonSchema {
  const value: JsonSchema =
    choices.length > 1 ? { type: 'string', enum: [...choices] } : { type: 'string' }
  return {
    ...(repeatable ? { type: 'array', items: value } : value),
    ...(description !== '' && { description }),
  }
}
