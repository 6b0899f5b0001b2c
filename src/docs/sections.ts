/**
 * Sections that several kinds of documents share.
 */

import { formatPromptSignature } from '../cli/help-sections.ts'
import type { ErrorCode } from '../protocol/errors.ts'
import { ERROR_TABLE } from '../protocol/errors.ts'
import { pluralize } from '../util/text.ts'
import type { OptionalText } from './markdown.ts'
import {
  formatBullets,
  formatFence,
  formatJsonBlock,
  formatTitled,
  joinBlocks,
  pickTexts,
  tidyLine,
  toCode,
  toComment,
  toInline,
  toParagraph,
  toParagraphs,
  toSafeJson,
  truncateText,
} from './markdown.ts'
import type { DocError, DocExample, DocGroup, DocModel, DocParameter, DocTool } from './model.ts'

const SHORT_DESCRIPTION_CHARS = 90
const MAX_CHOICES = 20
const SHORT_USAGE_CHARS = 100
const SHORT_OUTPUT_CHARS = 160

/** Everything about one tool under a heading of that level. */
export function formatToolSection(tool: DocTool, level: number): string {
  return formatTitled(level, toCode(tool.command), [
    pickTexts([endSentence(toParagraph(tool.summary)), getRule(tool)]).join(' '),
    ...formatToolDetails(tool, level + 1),
  ])
}

/** Everything about one tool but its name and summary. */
export function formatToolDetails(tool: DocTool, level: number): string[] {
  const { description, result, idempotent, readOnly, timeout } = tool
  const facts = [
    result !== undefined && `Result: ${toCode(result)}.`,
    idempotent && !readOnly && 'Calling it twice does no more than calling it once.',
    timeout !== undefined && `It gives up after ${timeout} s.`,
  ]
  return pickTexts([
    description !== undefined && toParagraphs(description),
    toCode(formatUsageLine(tool)),
    formatBullets(tool.parameters.map(formatParameter)),
    pickTexts(facts).join(' '),
    formatTitled(level, 'Examples', tool.examples.flatMap(formatExampleBlocks)),
    formatTitled(level, 'Errors', [formatToolErrors(tool.errors)]),
  ])
}

/** One tool in short: parameters without detail, one example, its codes. */
export function formatShortToolSection(tool: DocTool, level: number, more?: string): string {
  const [example] = tool.examples
  return formatTitled(level, toCode(formatUsageLine(tool)), [
    pickTexts([endSentence(toParagraph(tool.summary)), getRule(tool), more]).join(' '),
    formatBullets(tool.parameters.map(formatShortParameter)),
    example && formatShellBlock(example, formatShortOutput(example)),
    formatShortToolErrors(tool.errors),
  ])
}

/** One tool in one line. */
export function formatToolLine(tool: DocTool): string {
  return `${toCode(formatUsageLine({ ...tool, usage: truncateText(tool.usage, SHORT_USAGE_CHARS) }))}: ${toInline(tool.summary)}${tool.destructive ? ' (destructive)' : ''}`
}

/** `prog find-files <pattern> [options]`. */
export function formatUsageLine({ command, usage }: DocTool): string {
  return usage === '' ? command : `${command} ${usage}`
}

function formatExampleBlocks(example: DocExample): string[] {
  const lines = formatShellBlock(example, example.jsonCommand)
  return example.output
    ? [lines, `The ${toCode('result')} of the answer:`, formatJsonBlock(example.output.value)]
    : [lines]
}

function formatShellBlock({ description, command }: DocExample, last: OptionalText): string {
  const comment = description !== undefined && `# ${toComment(description)}`
  return formatFence('bash', pickTexts([comment, command, last]).join('\n'))
}

function formatShortOutput({ output }: DocExample): OptionalText {
  const json = output && toSafeJson(output.value)
  return json !== undefined && json.length <= SHORT_OUTPUT_CHARS && `# result: ${json}`
}

function formatParameter(parameter: DocParameter): string {
  const { field, term, short, type, choices, description, fallback, limits, env } = parameter
  const facts = pickTexts([
    parameter.required && 'required',
    fallback !== undefined && `default ${toCode(fallback)}`,
    limits !== undefined && toInline(limits),
    type === 'any' && choices && `one of ${formatChoices(choices)}`,
    env !== undefined && `env ${toCode(env)}`,
  ]).join(', ')
  return [
    short === undefined ? '' : `${toCode(`-${short}`)}, `,
    `${toCode(term)} or ${toCode(`${field}: ${type}`)}`,
    facts === '' ? '' : ` (${facts})`,
    description === undefined ? '' : `: ${toInline(description)}`,
  ].join('')
}

function formatShortParameter({ term, field, type, required, description }: DocParameter): string {
  return [
    `${toCode(term)} or ${toCode(`${field}: ${truncateText(type, 40)}`)}`,
    required ? ' (required)' : '',
    description === undefined
      ? ''
      : `: ${toInline(truncateText(description, SHORT_DESCRIPTION_CHARS))}`,
  ].join('')
}

function formatChoices(choices: readonly string[]): string {
  const shown = choices.slice(0, MAX_CHOICES).map(toCode).join(', ')
  return choices.length > MAX_CHOICES ? `${shown} and ${choices.length - MAX_CHOICES} more` : shown
}

const MAX_TITLE_CHARS = 80

/** What a group is called; for the tools that belong nowhere it is a word of ours. */
export function formatGroupTitle({ title }: DocGroup): string {
  return title === '' ? 'General' : truncateText(title, MAX_TITLE_CHARS)
}

/** Where to read on about a group or a tool. */
type SectionLinks = {
  readonly ofGroup?: (group: DocGroup) => string
  readonly ofTool?: (tool: DocTool) => string
}

/** One line for each tool, by group. */
export function formatCommandLines(
  { groups }: DocModel,
  level: number,
  { ofGroup, ofTool }: SectionLinks = {},
): string[] {
  const alone = groups.length === 1 && groups[0]!.title === ''
  return groups.map((group) => {
    const lines = formatBullets(
      group.tools.map((tool) =>
        ofTool ? `${formatToolLine(tool)} (${ofTool(tool)})` : formatToolLine(tool),
      ),
    )
    const body = ofGroup ? [ofGroup(group), lines] : [lines]
    return alone ? joinBlocks(body) : formatTitled(level, toInline(formatGroupTitle(group)), body)
  })
}

/** The names of the tools, one line for each group. */
export function formatCommandNames(
  { groups }: DocModel,
  linkOf: (group: DocGroup) => string,
): string {
  return formatBullets(
    groups.map(
      (group) =>
        `${linkOf(group)}: ${group.tools.map(({ command }) => toCode(command.slice(command.indexOf(' ') + 1))).join(', ')}`,
    ),
  )
}

/** How many tools each group has. */
export function formatGroupCounts(
  { groups }: DocModel,
  linkOf: (group: DocGroup) => string,
): string {
  return formatBullets(
    groups.map((group) => `${linkOf(group)}: ${pluralize(group.tools.length, 'command')}`),
  )
}

/**
 * The tools of each group under a heading of its own, written by `section`; without headings where
 * there is one group only.
 */
export function formatGroupSections(
  { groups }: DocModel,
  level: number,
  section: (tool: DocTool, level: number) => string,
): string[] {
  const alone = groups.length === 1 && groups[0]!.title === ''
  return groups.map((group) =>
    alone
      ? joinBlocks(group.tools.map((tool) => section(tool, level)))
      : formatTitled(
          level,
          toInline(formatGroupTitle(group)),
          group.tools.map((tool) => section(tool, level + 1)),
        ),
  )
}

/** The commands of a page, and how much it says around them. */
export type CommandVersion = {
  /** Characters of the description. */
  readonly description: number
  /** Commands that a rule names. */
  readonly named: number
  readonly commands: readonly string[]
}

/** The commands from a line for each to their number, for a page that has to fit. */
export function listCommandVersions(
  model: DocModel,
  formatTotal: (line: string) => string = (line) => line,
): readonly (() => CommandVersion)[] {
  const title = (group: DocGroup): string => toInline(formatGroupTitle(group))
  const short = { description: 300, named: 0 }
  const total = `${model.tools.length} commands: ${toCode(`${model.name} --help`)} lists them.`
  return [
    () => ({ description: 600, named: 8, commands: formatCommandLines(model, 3) }),
    () => ({ ...short, commands: formatCommandLines(model, 3) }),
    () => ({ ...short, commands: [formatCommandNames(model, title)] }),
    () => ({ ...short, commands: [formatGroupCounts(model, title)] }),
    () => ({ ...short, commands: [formatTotal(total)] }),
  ]
}

/** How input is given, what comes back, and where to find out more: true of every program. */
export function formatCallingSection(model: DocModel): string {
  return formatBullets([
    describeInput(model),
    describeAnswer(),
    describeShaping(),
    describeHelp(model),
  ])
}

/** The same in two points. */
export function formatShortCallingSection(model: DocModel): string {
  return formatBullets([describeInput(model), `${describeAnswer()} ${describeHelp(model)}`])
}

/** `prog <command>`, or `prog` where it is its only tool. */
export function getCommandForm({ name, single }: DocModel): string {
  return single ? name : `${name} <command>`
}

function describeInput(model: DocModel): string {
  return `Input: flags as shown, or one JSON object: ${toCode(`${getCommandForm(model)} '{"field":"value"}'`)}; ${toCode('-')} reads the object from stdin.`
}

function describeAnswer(): string {
  return `Answer: one JSON document on stdout in a pipe, or with ${toCode('--json')}: ${toCode('{"ok":true,"status":"success","result":…}')} or ${toCode('{"ok":false,"status":"error","error":{"code":…,"message":…,"suggestion":…}}')}. A failure exits with a status other than 0.`
}

function describeShaping(): string {
  return `Less of it: ${toCode('--fields a,b')}, ${toCode("--filter 'size>100'")}, ${toCode('--limit 20')}, ${toCode('--max-tokens 2000')}.`
}

function describeHelp(model: DocModel): string {
  const any = getCommandForm(model)
  const ways = pickTexts([
    !model.single && toCode(`${model.name} --help`),
    toCode(`${any} --help`),
    `${toCode(`${any} --schema`)} (JSON Schema of input and output)`,
  ])
  return `More: ${ways.join(', ')}.`
}

const MAX_NAMED_TOOLS = 8

/**
 * What has to be kept in mind before some of the tools are called; empty where there is nothing. At
 * most so many of each sort are named.
 */
export function formatRules({ tools }: DocModel, mostNamed = MAX_NAMED_TOOLS): string {
  const named = (which: (tool: DocTool) => boolean): string | undefined =>
    joinToolNames(tools.filter(which), mostNamed)
  const destructive = named((tool) => tool.destructive)
  const readOnly = named((tool) => tool.readOnly && !tool.destructive)
  const session = named((tool) => tool.session)
  const streaming = named((tool) => tool.streaming)
  return formatBullets([
    destructive &&
      `Destructive: ${destructive}. First call with ${toCode('--dry-run')} and show the user what would be done. Add ${toCode('--yes')} only when the user has agreed to exactly that; without it the call fails with ${toCode('CONFIRMATION_REQUIRED')}.`,
    readOnly && `Change nothing, safe to call at any time: ${readOnly}.`,
    session &&
      `Ask questions while they run: ${session}. ${toCode('--session')} takes the answers as JSON lines on stdin.`,
    streaming &&
      `Report while they run: ${streaming}. ${toCode('--stream')} prints events as JSON lines; the last one is the result.`,
  ])
}

/** The rule of one tool, in a sentence; undefined for a tool that needs none. */
export function getRule(tool: DocTool): string | undefined {
  if (tool.destructive)
    return `Destructive: call it with ${toCode('--dry-run')} first; ${toCode('--yes')} only when the user has agreed.`
  return tool.readOnly ? 'Changes nothing.' : undefined
}

function joinToolNames(tools: readonly DocTool[], most: number): string | undefined {
  if (tools.length === 0) return undefined
  if (most === 0) return `${tools.length} commands, as their help says`
  const names = tools
    .slice(0, most)
    .map(({ command }) => toCode(command))
    .join(', ')
  return tools.length > most
    ? `${names} and ${tools.length - most} more, as their help says`
    : names
}

const COMMON_CODES: readonly ErrorCode[] = [
  'INVALID_INPUT',
  'MISSING_PARAM',
  'USAGE',
  'NOT_FOUND',
  'PERMISSION',
  'TIMEOUT',
  'INTERNAL',
]

/** What to do about a failure, whatever its code; then about these codes. */
export function formatErrorSection(codes: readonly ErrorCode[] = []): string {
  return formatBullets([
    `Read ${toCode('error.suggestion')} first: ${toCode('fix')} says what to do, ${toCode('example')} is the repaired call.`,
    `${toCode('recoverable')}: change the request and call again. ${toCode('retryable')}: the same call may work later; wait, and try three times at most. Neither: stop and tell the user.`,
    ...codes.map(formatTableLine),
  ])
}

/** The codes that calls of this program can end with besides the tools' own. */
export function listCommonCodes({ tools }: DocModel): ErrorCode[] {
  const codes = [...COMMON_CODES]
  if (tools.some((tool) => tool.destructive)) codes.push('CONFIRMATION_REQUIRED')
  if (tools.some((tool) => tool.session)) codes.push('ANSWER_REQUIRED')
  return codes
}

/** Every code of the table. */
export function listAllCodes(): ErrorCode[] {
  return Object.keys(ERROR_TABLE) as ErrorCode[]
}

/** The codes that a tool declares, each with what to do. */
function formatToolErrors(errors: readonly DocError[]): string {
  return formatBullets(
    errors.map(
      (error) =>
        `${toCode(error.code)} (exit ${error.exit}): ${endSentence(toInline(error.message))} ${endSentence(error.advice)}`,
    ),
  )
}

/** The same without advice, in one line. */
function formatShortToolErrors(errors: readonly DocError[]): string {
  return errors.length === 0
    ? ''
    : `Errors: ${errors.map((error) => `${toCode(error.code)} ${toInline(error.message)}`).join('; ')}`
}

/** The exit status of a code of the table, in words where it depends on how the input came. */
export function describeExit(name: ErrorCode): string {
  if (name === 'INVALID_INPUT') return '2, or 65 for JSON input'
  return name === 'USAGE' ? '2, or 64 if unreadable' : String(ERROR_TABLE[name].exit)
}

function formatTableLine(name: ErrorCode): string {
  const { meaning, advice } = ERROR_TABLE[name]
  return `${toCode(name)} (exit ${describeExit(name)}): ${endSentence(meaning)} ${endSentence(advice)}`
}

/** A sentence with its full stop. */
export function endSentence(text: string): string {
  return /[.!?…]$/.test(text) || text === '' ? text : `${text}.`
}

const MAX_TERM_CHARS = 120

/**
 * The resources and prompts of a program with the commands that read and render them; at most so
 * many of each.
 */
export function formatContentSections(
  { name, resources, prompts }: DocModel,
  level: number,
  most = Infinity,
): string[] {
  const format = (title: string, items: readonly string[], use: string): string => {
    const shown =
      items.length > most ? [...items.slice(0, most), `${items.length - most} more`] : items
    return items.length === 0 ? '' : formatTitled(level, title, [formatBullets(shown), use])
  }
  return [
    format(
      'Resources',
      resources.map(({ uri, summary }) => formatTermLine(uri, summary)),
      `Read one: ${toCode(`${name} --resource <uri>`)}.`,
    ),
    format(
      'Prompts',
      prompts.map((prompt) => formatTermLine(formatPromptSignature(prompt), prompt.summary)),
      `Render one: ${toCode(`${name} --prompt <name> '{"argument":"value"}'`)}.`,
    ),
  ]
}

function formatTermLine(term: string, summary: string): string {
  return `${toCode(truncateText(tidyLine(term), MAX_TERM_CHARS))}: ${toInline(summary)}`
}
