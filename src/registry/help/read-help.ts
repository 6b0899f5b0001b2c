/**
 * Reads the help text of any program and turns it into a tool's schema.
 *
 * The text is normalised to lines, cut into sections (sections.ts, layout.ts, flag-head.ts, tokens.ts), and read as usage lines (usage.ts), options (options.ts), commands and positionals (commands.ts).
 * Nothing throws; what is not understood is left out. Time grows linearly with the text.
 */

import type { JsonSchema } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { ProgramField, ProgramForm } from '../child/child-call.ts'
import type { ForeignMetadata } from '../source.ts'
import { collectCommands, collectPositionals } from './commands.ts'
import { collectOptions } from './options.ts'
import type { ValueSeparators } from './options.ts'
import { outlineHelp } from './sections.ts'
import type { HelpDocument, HelpOption, HelpOutline, HelpPositional } from './sections.ts'
import { readUsage, splitUsageLines } from './usage.ts'

const MAX_DESCRIPTION_LENGTH = 2000
const MAX_USAGE_LENGTH = 8000
const MAX_USAGE_LINES = 300

/**
 * Reads any help text. Never throws; what is not understood is left out. Time grows with the length
 * of the text only.
 */
export function readHelp(text: string): HelpDocument {
  return parseHelp(text).document
}

/** A help text with what only a caller of the program needs to know. */
export type ParsedHelp = {
  readonly document: HelpDocument
  readonly written: ValueSeparators
  /** There is one usage line, so that arguments have one order. */
  readonly single: boolean
}

/** As `readHelp`, with how values are written. */
export function parseHelp(text: string): ParsedHelp {
  const outline = outlineHelp(normaliseHelp(text))
  const listed = new Set(
    outline.flags.flatMap(({ head }) => head.specs.flatMap(({ names }) => names)),
  )
  const lines = splitUsageLines(
    outline.usage.slice(0, MAX_USAGE_LINES).map((line) => readUsage(line)),
    (flag) => listed.size === 0 || listed.has(flag),
  )
  const usages = lines.own
  const lists =
    outline.synopses.length > 0
      ? [readUsage(outline.synopses.join(' ')).map((item) => ({ ...item, required: false }))]
      : []
  const commands = collectCommands(lines, outline.sections)
  const { options, written } = collectOptions(outline.flags, [...usages, ...lists])
  const document: HelpDocument = {
    usage: outline.usage.join('\n').slice(0, MAX_USAGE_LENGTH),
    description: extractDescription(outline),
    // Others who know a program (its completions) count only a value that has to follow.
    options: options.map((option) =>
      option.valueOptional ? { ...option, takesValue: false } : option,
    ),
    positionals: collectPositionals(usages, outline.sections, commands.length > 0),
    commands,
  }
  return { document, written, single: usages.length === 1 }
}

/** The prose before the first list, or under a heading that says so. */
function extractDescription({ sections }: HelpOutline): string {
  for (const wanted of ['intro', 'about'] as const) {
    const rows = sections.filter(({ kind }) => kind === wanted).flatMap(({ rows: own }) => own)
    const paragraphs = rows
      .map(({ text }) => text.trim())
      .join('\n')
      .trim()
      .replace(/\n{2,}/g, '\n\n')
    if (paragraphs !== '')
      return paragraphs
        .replace(/(?<!\n)\n(?!\n)/g, ' ')
        .slice(0, MAX_DESCRIPTION_LENGTH)
        .trim()
  }
  return ''
}

/** A program, or one command of it, as a tool. */
export type ProgramMetadata = { readonly facts: ForeignMetadata; readonly program: ProgramForm }

const IGNORED_FLAGS = /^--?(?:help|version|usage|help-all|h|\?)$/i
const INTEGER_NAMES =
  /^(?:n|num|number|int|integer|count|uint|int32|int64|uint32|uint64|nr|lines|cols|columns|depth|limit)$/i
const NUMBER_NAMES = /^(?:float|double|decimal)$/i
const UNSAFE_NAMES = new Set(['__proto__', 'constructor', 'prototype'])
const MAX_FIELD_NAME_LENGTH = 64

/** What a help text makes of a program as a tool, or undefined where the text says nothing. */
export function readProgramHelp(text: string, name: string): ProgramMetadata | undefined {
  const help = parseHelp(text)
  const { options, positionals, usage } = help.document
  return options.length === 0 && positionals.length === 0 && usage === ''
    ? undefined
    : toProgramMetadata(help, name)
}

/** The facts of a tool, and how its input becomes arguments. */
export function toProgramMetadata(
  { document, written, single }: ParsedHelp,
  name: string,
): ProgramMetadata {
  const properties: { [field: string]: JsonSchema } = Object.create(null) as {}
  const required: string[] = []
  const fields: ProgramField[] = []
  const singleDash = document.options.some(({ long }) =>
    long.some((flag) => !flag.startsWith('--')),
  )
  for (const option of document.options) {
    const field = toOptionField(option, written.get(option) ?? 'space', singleDash)
    if (!field || field.field in properties) continue
    properties[field.field] = toOptionSchema(option, field, singleDash)
    fields.push(field)
    if (option.required) required.push(field.field)
  }
  for (const positional of document.positionals) {
    const field = toPositionalField(positional, properties)
    if (field === undefined) continue
    properties[field] = toPositionalSchema(positional)
    fields.push({
      field,
      takesValue: true,
      ...compact({ repeatable: positional.repeatable || undefined }),
    })
    if (positional.required) required.push(field)
  }
  const inputSchema: JsonSchema = compact({
    type: 'object',
    properties: { ...properties },
    additionalProperties: false,
    required: required.length > 0 ? required : undefined,
  })
  return {
    facts: { ...toSummaryAndDescription(document, name), inputSchema },
    program: compact({
      fields,
      noEndOfFlags: singleDash || undefined,
      ordered: single || undefined,
    }),
  }
}

function toSummaryAndDescription(
  { description, usage }: HelpDocument,
  name: string,
): Pick<ForeignMetadata, 'summary' | 'description'> {
  const first = description.split('\n', 1)[0]!.trim()
  const summary = first === '' ? name : (/^.{1,197}?[.!?](?=\s|$)/.exec(first)?.[0] ?? first)
  const whole = [description, usage === '' ? '' : `Usage: ${usage}`]
    .filter((part) => part !== '')
    .join('\n\n')
  return compact({ summary: summary.slice(0, 200), description: whole !== '' ? whole : undefined })
}

function toOptionField(
  option: HelpOption,
  written: 'equals' | 'space' | 'stuck',
  singleDash: boolean,
): ProgramField | undefined {
  const names = [...option.long, ...option.short]
  if (
    names.length === 0 ||
    names.some((flag) => IGNORED_FLAGS.test(flag) && flag !== '-h') ||
    (names.length === 1 && names[0] === '-h' && /help/i.test(option.description))
  )
    return undefined
  const positive = option.long.find((flag) => !/^--no-?/.test(flag)) ?? names[0]!
  const negative = option.long.find(
    (flag) => flag !== positive && flag.replace(/^--no-?/, '--') === positive,
  )
  const field = toFieldName(positive)
  if (field === undefined) return undefined
  const double = positive.startsWith('--')
  const separate =
    option.takesValue &&
    (double ? singleDash && written === 'space' : written === 'space' || positive.length === 2)
  return {
    field,
    flag: positive,
    takesValue: option.takesValue || option.valueOptional === true,
    ...compact({
      negative,
      valueOptional: option.valueOptional ? true : undefined,
      separate: separate || undefined,
      repeatable: option.repeatable || undefined,
      together:
        (option.takesValue && written === 'space' && takesValuesTogether(option)) || undefined,
    }),
  }
}

/** `--max-depth` is the field `max_depth`, `-x` is `x`. */
function toFieldName(flag: string): string | undefined {
  const name = flag
    .replace(/^-+/, '')
    .replace(/[^\p{L}\d]+/gu, '_')
    .replace(/^_+|_+$/g, '')
  return name === '' || name.length > MAX_FIELD_NAME_LENGTH || UNSAFE_NAMES.has(name)
    ? undefined
    : name
}

/** argparse takes `--files a b c` in one go: `FILE [FILE ...]`. */
function takesValuesTogether({ valueName, repeatable }: HelpOption): boolean {
  const words = (valueName ?? '').split(' ')
  return words.length > 1 && (repeatable || words.every((word) => /^[A-Z][A-Z0-9_]*$/.test(word)))
}

function toOptionSchema(option: HelpOption, field: ProgramField, singleDash: boolean): JsonSchema {
  const description = compact({
    description: option.description !== '' ? option.description : undefined,
  })
  if (!field.takesValue)
    return option.repeatable
      ? { type: 'integer', minimum: 0, maximum: 10, ...description }
      : { type: 'boolean', ...description }
  const value = toValueSchema(option, singleDash)
  if (field.together) return { type: 'array', items: value, minItems: 1, ...description }
  if (option.repeatable) return { type: 'array', items: value, ...description }
  if (option.valueOptional) return { anyOf: [value, { type: 'boolean' }], ...description }
  return { ...value, ...description }
}

function toValueSchema(
  { valueName, choices, default: byDefault }: HelpOption,
  singleDash: boolean,
): JsonSchema {
  if (choices.length > 1) return { type: 'string', enum: [...choices] }
  const fits = byDefault === null || /^-?\d+$/.test(byDefault)
  // find means more than a number by N.
  if (
    valueName !== null &&
    INTEGER_NAMES.test(valueName) &&
    fits &&
    !(singleDash && valueName.length === 1)
  )
    return { type: 'integer' }
  if (valueName !== null && NUMBER_NAMES.test(valueName)) return { type: 'number' }
  return { type: 'string' }
}

function toPositionalField(
  { name }: HelpPositional,
  taken: { readonly [field: string]: unknown },
): string | undefined {
  const plain = toFieldName(name.toLowerCase())
  if (plain === undefined) return undefined
  const field = plain in taken ? `${plain}_argument` : plain
  return field in taken ? undefined : field
}

function toPositionalSchema({ choices, repeatable, description }: HelpPositional): JsonSchema {
  const value: JsonSchema =
    choices.length > 1 ? { type: 'string', enum: [...choices] } : { type: 'string' }
  return {
    ...(repeatable ? { type: 'array', items: value } : value),
    ...compact({ description: description !== '' ? description : undefined }),
  }
}

// A line of a help text is short; what is longer is garbage, or data that nobody reads as help.
const MAX_LINE_LENGTH = 4000
const MAX_HELP_LENGTH = 2_000_000

/**
 * The lines of any text as a terminal would show them: no escape sequences, no overstrike, no tabs,
 * no frames.
 */
function normaliseHelp(text: string): string[] {
  const plain = undoOverstrike(
    stripEscapes(text.length > MAX_HELP_LENGTH ? text.slice(0, MAX_HELP_LENGTH) : text),
  ).replace(/\r\n?/g, '\n')
  const lines = plain.split('\n').map((line) => tidyLine(line))
  return markUnderlined(removeBoxes(lines))
}

// ESC [ ... , ESC ] ... BEL and the two-letter ones; no part of a sequence can contain the start of
// another, so this is linear.

const TERMINAL_ESCAPES =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*\u0007?|[@-Z\\-_()][0-9A-Z]?)/g

function stripEscapes(text: string): string {
  return text.includes('\u001b') ? text.replace(TERMINAL_ESCAPES, '') : text
}

/** Manual pages print bold as `x BACKSPACE x` and underlined as `_ BACKSPACE x`. */
function undoOverstrike(text: string): string {
  if (!text.includes('\b')) return text
  const kept: string[] = []
  for (const character of text) {
    if (character !== '\b') kept.push(character)
    else if (kept.length > 0 && kept[kept.length - 1] !== '\n') kept.pop()
  }
  return kept.join('')
}

function tidyLine(line: string): string {
  const cut = line.length > MAX_LINE_LENGTH ? line.slice(0, MAX_LINE_LENGTH) : line
  return (
    expandTabs(cut)
      .replace(/[\u00a0\u2000-\u200a\u202f\u3000]/g, ' ')
      .replace(/\u2026/g, '...')
      .replace(/[\u2010\u2011\u2212]/g, '-')

      .replace(/[\u0000-\u001f\u007f\u00ad\u200b-\u200f\ufeff]/g, '')
      // Leaders: `-a  ........  --search`
      .replace(/ \.{3,} /g, (dots) => ' '.repeat(dots.length))
      .trimEnd()
  )
}

function expandTabs(line: string): string {
  if (!line.includes('\t')) return line
  const [first = '', ...rest] = line.split('\t')
  let shown = first
  for (const part of rest) shown += ' '.repeat(8 - (shown.length % 8)) + part
  return shown
}

const UNDERLINE_PATTERN = /^ *([-=~*_─═])\1{2,} *$/

/** `Options` over a line of dashes is a heading. */
function markUnderlined(lines: readonly string[]): string[] {
  const marked = [...lines]
  for (const [index, line] of lines.entries()) {
    if (!UNDERLINE_PATTERN.test(line)) continue
    marked[index] = ''
    const above = index > 0 ? marked[index - 1]! : ''
    if (above.trim() !== '' && above.length < 80 && !/[:.]$/.test(above))
      marked[index - 1] = `${above}:`
  }
  return marked
}

const TOP_LEFT_CORNERS = '╭┌┏╔+'
const TOP_RIGHT_CORNERS = '╮┐┓╗+'
const BOTTOM_LEFT_CORNERS = '╰└┗╚'
const HORIZONTAL_LINES = '─━═-'
const BOX_SIDES = /^( *)[│┃║|](.*)[│┃║|]$/
const BOX_PATTERN = /[╭┌┏╔╰└┗╚│┃║]|^ *\+-/

/**
 * Frames around sections become plain sections: the title a heading, the sides blanks of the same
 * width.
 */
function removeBoxes(lines: readonly string[]): string[] {
  if (!lines.some((line) => BOX_PATTERN.test(line))) return [...lines]
  let inside = false
  return lines.map((line) => {
    const text = line.trimStart()
    if (text !== '' && BOTTOM_LEFT_CORNERS.includes(text[0]!)) {
      inside = false
      return ''
    }
    const title = readBoxTitle(text)
    if (title !== undefined) {
      inside = true
      return title === '' ? '' : `${title}:`
    }
    const framed = inside ? BOX_SIDES.exec(line) : null
    return framed ? `${framed[1]!} ${framed[2]!}`.trimEnd() : line
  })
}

/** What stands in the upper edge of a frame; undefined for any other line. */
function readBoxTitle(text: string): string | undefined {
  if (
    text.length < 4 ||
    !TOP_LEFT_CORNERS.includes(text[0]!) ||
    !HORIZONTAL_LINES.includes(text[1]!) ||
    !TOP_RIGHT_CORNERS.includes(text[text.length - 1]!)
  )
    return undefined
  let start = 1
  while (start < text.length && HORIZONTAL_LINES.includes(text[start]!)) start++
  let end = text.length - 1
  while (end > start && HORIZONTAL_LINES.includes(text[end - 1]!)) end--
  return text.slice(start, end).trim()
}
