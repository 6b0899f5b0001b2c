/**
 * The manual page, written as roff.
 */

import { getDisplayWidth } from '../../cli/formats/text-layout.ts'
import { formatPromptSignature, listGlobalFlagRows } from '../../cli/help-sections.ts'
import { GLOBAL_FLAGS, PROGRAM_FLAGS } from '../../define/global-flags.ts'
import { ERROR_TABLE } from '../../protocol/errors.ts'
import { EXIT_STATUSES } from '../../protocol/exit-statuses.ts'
import { pickTexts, tidyLine, toSafeJson, truncateText } from '../markdown.ts'
import type { DocExample, DocKind, DocModel, DocParameter, DocTool } from '../model.ts'
import { getMarkText } from '../model.ts'
import {
  describeExit,
  endSentence,
  formatUsageLine,
  getCommandForm,
  listAllCodes,
} from '../sections.ts'

/** The manual page. */
export const kind: DocKind = {
  make: ({ model }) => [{ path: `man/${model.name}.1`, text: renderManPage(model) }],
}

// What `whatis` and `apropos` show.
const MAX_NAME_LINE_CHARS = 160

/**
 * The manual page of a program, section 1. It has no date, so that the same program gives the same
 * page.
 */
export function renderManPage(model: DocModel): string {
  const { name, version, tools, resources, prompts } = model
  const body = [
    `.TH ${toMacroArgument(name.toUpperCase())} "1" "" ${toMacroArgument(`${name} ${version}`)} "User Commands"`,
    // Neither hyphens nor wide gaps: words of a command line have to stay what they are.
    '.nr HY 0',
    '.nh',
    '.ad l',
    ...formatManSection('NAME', [`${toRoffText(name)} \\- ${toRoffText(getNameLine(model))}`]),
    ...formatManSection('SYNOPSIS', formatSynopsis(model)),
    ...formatManSection('DESCRIPTION', [
      ...formatManParagraphs(model.description ?? getNameLine(model)),
      ...describeCalling(model),
    ]),
    ...formatManSection(
      model.single ? 'ARGUMENTS' : 'COMMANDS',
      tools.flatMap((tool) => formatManTool(tool, model.single)),
    ),
    ...formatManSection(
      'RESOURCES',
      resources.flatMap(({ uri, summary }) => formatItem(uri, summary)),
    ),
    ...formatManSection(
      'PROMPTS',
      prompts.flatMap((prompt) =>
        formatItem(tidyLine(formatPromptSignature(prompt)), prompt.summary),
      ),
    ),
    ...formatManSection(
      'OPTIONS OF EVERY COMMAND',
      listGlobalFlagRows(GLOBAL_FLAGS).flatMap((row) =>
        formatItem(row.term.trim(), [row.text, ...(row.notes ?? [])].join(' ')),
      ),
    ),
    ...formatManSection(
      'OPTIONS OF THE PROGRAM',
      listGlobalFlagRows(PROGRAM_FLAGS).flatMap((row) => formatItem(row.term.trim(), row.text)),
    ),
    ...formatManSection('ENVIRONMENT', listEnvironment(tools)),
    ...formatManSection(
      'EXIT STATUS',
      EXIT_STATUSES.flatMap(({ status, meaning }) => formatItem(String(status), meaning)),
    ),
    ...formatManSection(
      'ERRORS',
      listAllCodes().flatMap((code) =>
        formatItem(
          code,
          `${endSentence(ERROR_TABLE[code].meaning)} ${endSentence(ERROR_TABLE[code].advice)} [exit ${describeExit(code)}]`,
        ),
      ),
    ),
  ].join('\n')
  return [`.\\" ${getMarkText(model, 'man')}`, ...listFallbacks(body), body, ''].join('\n')
}

function formatManSection(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`.SH ${toMacroArgument(title)}`, ...lines]
}

function getNameLine({ description, single, tools, name }: DocModel): string {
  return truncateText(
    tidyLine(description ?? (single && tools[0] ? tools[0].summary : `commands of ${name}`)),
    MAX_NAME_LINE_CHARS,
  )
}

function formatSynopsis(model: DocModel): string[] {
  const lines =
    model.single && model.tools[0]
      ? [formatUsageLine(model.tools[0])]
      : [`${model.name} <command> [arguments] [options]`, `${model.name} <command> --help`]
  return [...lines, `${getCommandForm(model)} '<json>' | - | @input.json`].flatMap(
    (line, index) => [...(index === 0 ? [] : ['.br']), toRoffLines(line)],
  )
}

function describeCalling(model: DocModel): string[] {
  const lines = [
    '.PP',
    toRoffLines(
      `The input is given in flags, or as one JSON object; - reads it from stdin. In a pipe, or with --json, the answer is one JSON document: {"ok":true,"status":"success","result":...} or {"ok":false,"status":"error","error":{...}}.`,
    ),
  ]
  const warning =
    'Destructive commands ask before they act. --dry-run says what would be done, --yes answers beforehand.'
  return model.tools.some((tool) => tool.destructive)
    ? [...lines, '.PP', toRoffLines(warning)]
    : lines
}

function listEnvironment(tools: readonly DocTool[]): string[] {
  const own = new Map<string, string>()
  for (const { env, description, term } of tools.flatMap(({ parameters }) => parameters))
    if (env !== undefined) own.set(env, description ?? term)
  return [
    ...[...own].flatMap(([name, text]) => formatItem(name, text)),
    ...formatItem('TOOLABLE_OUTPUT', 'How to print results where no flag says it'),
    ...formatItem('NO_COLOR', 'No colours'),
  ]
}

/** One command of the manual page. `single`: its name and summary stand above already. */
function formatManTool(tool: DocTool, single: boolean): string[] {
  const { description, destructive, result, errors } = tool
  const lines = single
    ? []
    : [`.SS ${toMacroArgument(formatUsageLine(tool))}`, toRoffLines(tool.summary)]
  if (description !== undefined) lines.push(...formatManParagraphs(description))
  if (destructive)
    lines.push('.PP', toRoffLines('Destructive: asks before it acts; --yes answers beforehand.'))
  for (const parameter of tool.parameters) {
    const { short, term } = parameter
    const name = short === undefined ? term : `-${short}, ${term}`
    lines.push(...formatItem(name, describeParameter(parameter)))
  }
  if (result !== undefined) lines.push('.PP', toRoffLines(`Result: ${result}`))
  lines.push(...tool.examples.flatMap(formatManExample))
  if (errors.length > 0) lines.push('.PP', 'Errors:')
  for (const { code, message, advice, exit } of errors)
    lines.push(...formatItem(code, `${endSentence(message)} ${endSentence(advice)} [exit ${exit}]`))
  return lines
}

function describeParameter({
  description,
  required,
  type,
  fallback,
  limits,
  env,
}: DocParameter): string {
  const facts = pickTexts([
    type,
    required && 'required',
    fallback !== undefined && `default ${fallback}`,
    limits,
    env !== undefined && `environment ${env}`,
  ])
  return `${description === undefined ? '' : `${endSentence(description)} `}[${facts.join('; ')}]`
}

function formatManExample({ description, command, output }: DocExample): string[] {
  const text = pickTexts([command, output && toSafeJson(output.value, 2)]).join('\n')
  return [
    '.PP',
    toRoffLines(description === undefined ? 'Example:' : `${description.replace(/[.:]$/, '')}:`),
    '.PP',
    '.RS 4',
    '.EX',
    toRoffCode(text),
    '.EE',
    '.RE',
  ]
}

/** A term and what it means. */
function formatItem(term: string, text: string): string[] {
  return ['.TP', toBold(term), text === '' ? '\\&' : toRoffLines(text)]
}

/** Paragraphs of a text. */
function formatManParagraphs(text: string): string[] {
  return text.split(/\n\s*\n/).flatMap((part) => ['.PP', toRoffLines(part.trim())])
}

const ROFF_ESCAPES: { readonly [character: string]: string } = {
  '\\': '\\e',
  '-': '\\-',
  "'": '\\(aq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
  '"': '\\(dq',
}
const MAX_WORD_WIDTH = 24

/**
 * A text as roff within a line: every character is shown as it is, on every device, and long words
 * may be broken.
 */
function toRoffText(text: string): string {
  return text.split(' ').map(breakWord).join(' ')
}

/** A text that is not filled: examples. */
function toRoffCode(text: string): string {
  return text
    .split('\n')
    .map((line) => guardLine(escapeRoff(line)))
    .join('\n')
}

/** Lines of text, none of which is taken for a request. */
function toRoffLines(text: string): string {
  return text
    .split('\n')
    .map((line) => guardLine(toRoffText(line.trim())))
    .join('\n')
}

/** A text in bold. */
function toBold(text: string): string {
  return `\\fB${toRoffText(text)}\\fR`
}

/** A text as one argument of a macro. */
function toMacroArgument(text: string): string {
  return `"${toRoffText(text)}"`
}

/** For each character beyond ASCII what to print where a device does not have it. */
function listFallbacks(page: string): string[] {
  return [...new Set(page.match(/\\\[u[0-9A-F]+\]/g))]
    .sort()
    .map((character) => `.if !c ${character} .fchar ${character} ?`)
}

// Behind punctuation where there is some; a device that cannot break a line complains about it.
function breakWord(word: string): string {
  if (getDisplayWidth(word) <= MAX_WORD_WIDTH) return escapeRoff(word)
  const parts = word.match(/[^,;:/|&=_.-]{1,12}[,;:/|&=_.-]{0,4}|[,;:/|&=_.-]{1,4}/gu) ?? [word]
  return parts.map(escapeRoff).join('\\:')
}

function escapeRoff(text: string): string {
  return text.replace(
    /[\\\-'`^~"]|[^\x20-\x7e]/gu,
    (character) =>
      ROFF_ESCAPES[character] ??
      `\\[u${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`,
  )
}

// A dot at the start of a line is a request; the quote that is another never stands there.
function guardLine(line: string): string {
  return line.startsWith('.') ? `\\&${line}` : line
}
