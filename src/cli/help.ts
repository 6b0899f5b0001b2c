/**
 * Help for a program, a group of commands or one tool; short for agents, laid out for people.
 */

import { toFlagSpecs } from '../define/flag-specs.ts'
import type { FlagSpec, GlobalFlag } from '../define/global-flags.ts'
import { CONTROL_FLAGS, GLOBAL_FLAGS, PROGRAM_FLAGS } from '../define/global-flags.ts'
import type { Io } from '../protocol/io.ts'
import type { ToolsetManifest } from '../protocol/manifest.ts'
import { DASH, ELLIPSIS, pluralize } from '../util/text.ts'
import { compact } from '../util/values.ts'
import { BUILTIN_COMMANDS } from './builtin-words.ts'
import { detectCaller } from './caller.ts'
import type { CommandManifest } from './command-line.ts'
import { isUnderPath } from './command-line.ts'
import type { ParsedCommand } from './command.ts'
import { OUTPUT_MODES } from './formats/table.ts'
import { shouldUseColor } from './formats/terminal-text.ts'
import type { HelpListRow, HelpOptions, HelpPage } from './formats/text-layout.ts'
import {
  createPage,
  formatHeadline,
  formatListSection,
  formatSection,
  joinSections,
  toOneLine,
  wrapParagraph,
} from './formats/text-layout.ts'
import type { ToolExample } from './help-sections.ts'
import {
  formatArgumentTerm,
  formatContentSections,
  formatExampleCommand,
  formatExampleLines,
  formatExitCodes,
  formatOptionTerm,
  formatPromptSignature,
  formatUsageArguments,
  isShownArgument,
  listArgumentRows,
  listErrorRows,
  listGlobalFlagRows,
  listOptionRows,
} from './help-sections.ts'

const MAX_HELP_COLUMNS = 120

/**
 * The help that fits a command: of the program, a group or a tool; short for agents, wide and
 * coloured for people.
 */
export function renderHelp(manifest: ToolsetManifest, command: ParsedCommand, io: Io): string {
  const options = {
    columns: Math.min(io.stdout.isTTY ? io.stdout.columns : 100, MAX_HELP_COLUMNS),
    color: shouldUseColor({
      env: io.env,
      isTTY: io.stdout.isTTY,
      noColorFlag: command.globals.noColor === true,
    }),
    compact: detectCaller(io.env)?.kind === 'agent',
  }
  if (command.kind === 'group') return renderGroupHelp(manifest, command.path, options)
  const only = manifest.tools.length === 1 && !command.builtin ? manifest.tools[0] : undefined
  const tool = findTool(manifest, command) ?? (command.kind === 'program' ? only : undefined)
  return tool
    ? renderToolHelp(manifest, tool, { ...options, single: only !== undefined })
    : renderProgramHelp(manifest, options)
}

function findTool({ tools }: ToolsetManifest, command: ParsedCommand): CommandManifest | undefined {
  if (command.kind !== 'tool') return undefined
  return tools.find(({ name }) => name === command.entry.name)
}

const MAX_EXAMPLES = 3

/** The help of a program with several tools. */
export function renderProgramHelp(manifest: ToolsetManifest, options: HelpOptions): string {
  if (options.compact) return formatCompactProgram(manifest)
  const page = createPage(options)
  const { name } = manifest
  return joinSections([
    formatHeadline(page, name, manifest.version, manifest.description),
    formatSection(page, 'Usage', [
      `${name} <command> [arguments] [options]`,
      `${name} <command> --help`,
    ]),
    formatSection(
      page,
      'Examples',
      formatExampleLines(page, manifest, pickExamples(manifest), false),
    ),
    ...formatCommandSections(page, manifest),
    ...formatContentSections(page, manifest),
    formatListSection(
      page,
      'Options of every command',
      listGlobalFlagRows(GLOBAL_FLAGS.filter((flag) => flag.isCommon)),
    ),
    formatListSection(page, 'Options of the program', listGlobalFlagRows(PROGRAM_FLAGS)),
    formatListSection(page, 'More commands', listBuiltinRows(manifest)),
    formatListSection(page, 'For agents', [
      { term: `${name} --discover`, text: 'every tool, resource and prompt, as JSON' },
      {
        term: `${name} <command> '{"field":"value"}'`,
        text: 'input as one JSON object; the answer is JSON where stdout is not a terminal',
      },
      { term: `${name} <command> --schema`, text: 'input and output of one tool' },
    ]),
    formatSection(page, 'Exit codes', wrapParagraph(page, formatExitCodes(), 2)),
  ])
}

function pickExamples(manifest: ToolsetManifest): ToolExample[] {
  return manifest.tools
    .flatMap((tool) => {
      const example = tool.examples.find(({ input, args }) => input ?? args)
      return example ? [{ tool, example }] : []
    })
    .slice(0, MAX_EXAMPLES)
}

function listBuiltinRows(manifest: ToolsetManifest): { term: string; text: string }[] {
  return BUILTIN_COMMANDS.filter(
    ({ name }) => !manifest.tools.some((tool) => isUnderPath(tool, [name])),
  ).map(({ name, words, summary }) => ({ term: `${name} ${words.join('|')}`, text: summary }))
}

/** The help of a group of commands: `prog pr --help`. */
export function renderGroupHelp(
  manifest: ToolsetManifest,
  path: readonly string[],
  options: HelpOptions,
): string {
  const members = manifest.tools.filter((tool) => isUnderPath(tool, path))
  const name = [manifest.name, ...path].join(' ')
  if (options.compact)
    return `${[`${name} <command>`, ...members.map(formatCompactCommand)].join('\n')}\n`
  const page = createPage(options)
  return joinSections([
    formatHeadline(page, name, undefined, pluralize(members.length, 'command')),
    formatSection(page, 'Usage', [
      `${name} <command> [arguments] [options]`,
      `${name} <command> --help`,
    ]),
    ...formatCommandSections(page, manifest, path),
  ])
}

/**
 * The help of one tool: examples first, then arguments, options, errors and exit codes. `single`:
 * the program is this tool.
 */
export function renderToolHelp(
  manifest: ToolsetManifest,
  tool: CommandManifest,
  options: HelpOptions & { readonly single: boolean },
): string {
  const { single } = options
  const specs = toFlagSpecs(tool)
  if (options.compact) return formatCompactTool(manifest, tool, specs, single)
  const page = createPage(options)
  const name = getCommandName(manifest, tool, single)
  const examples = tool.examples.map((example) => ({ tool, example }))
  const warning = 'Destructive: asks before it acts; --yes answers beforehand.'
  return joinSections([
    formatHeadline(page, name, single ? manifest.version : undefined, tool.summary),
    listDescription(tool).flatMap((text) => wrapParagraph(page, text)),
    tool.annotations.destructive ? [page.paint('yellow', warning)] : [],
    formatSection(page, 'Usage', [
      `${name} ${formatUsageArguments(specs)}`,
      `${name} '<json>' | - | @input.json`,
    ]),
    formatSection(page, 'Examples', formatExampleLines(page, manifest, examples, single)),
    formatListSection(page, 'Arguments', listArgumentRows(specs)),
    formatListSection(page, 'Options', listOptionRows(specs)),
    formatListSection(
      page,
      'Global options',
      listGlobalFlagRows(excludeOwnFlags(GLOBAL_FLAGS, specs)),
    ),
    formatListSection(
      page,
      single ? 'Instead of running' : 'Instead of running the tool',
      listGlobalFlagRows(listInfoFlags(specs, single)),
    ),
    ...(single ? formatContentSections(page, manifest) : []),
    formatListSection(page, 'Errors', listErrorRows(tool.errors)),
    formatSection(page, 'Exit codes', wrapParagraph(page, formatExitCodes(), 2)),
  ])
}

function getCommandName(
  { name }: ToolsetManifest,
  { path }: CommandManifest,
  single: boolean,
): string {
  return single ? name : [name, ...path].join(' ')
}

// A description that repeats the summary says nothing new.
function listDescription({ description, summary }: CommandManifest): string[] {
  return description === undefined || description === summary ? [] : [description]
}

function listInfoFlags(specs: readonly FlagSpec[], single: boolean): GlobalFlag[] {
  if (!single) return [...CONTROL_FLAGS]
  const ofTool = CONTROL_FLAGS.filter(
    (flag) => !PROGRAM_FLAGS.some((other) => other.long === flag.long),
  )
  const ofProgram = PROGRAM_FLAGS.filter((flag) => flag.long !== 'help')
  return excludeOwnFlags([...ofTool, ...ofProgram], specs)
}

function excludeOwnFlags(flags: readonly GlobalFlag[], specs: readonly FlagSpec[]): GlobalFlag[] {
  return flags.filter((flag) => !specs.some((spec) => spec.long === flag.long))
}

/** The help of a program for an agent: one line for each tool. */
function formatCompactProgram(manifest: ToolsetManifest): string {
  const { name, version, description } = manifest
  return joinLines([
    `${name} ${version}${description === undefined ? '' : ` ${DASH} ${toOneLine(description)}`}`,
    `Call: ${name} <command> '<json>' (or flags). Schemas: ${name} --schema, ${name} <command> --schema`,
    ...manifest.tools.map(formatCompactCommand),
    ...formatList(
      'Resources',
      manifest.resources.map((resource) => resource.uri),
    ),
    ...formatList('Prompts', manifest.prompts.map(formatPromptSignature)),
  ])
}

/** One command with its required arguments; `…` means that there are optional ones. */
function formatCompactCommand(tool: CommandManifest): string {
  const specs = toFlagSpecs(tool).filter((spec) => !spec.hidden)
  const required = specs.filter((spec) => spec.required)
  const words = [...tool.path, ...required.map(formatFlagTerm)]
  if (required.length < specs.length) words.push(ELLIPSIS)
  const note = tool.annotations.destructive ? ' (destructive: needs --yes)' : ''
  return `${words.join(' ')} ${DASH} ${toOneLine(tool.summary)}${note}`
}

/** The help of one tool for an agent: a line for each field, one example, the codes. */
function formatCompactTool(
  manifest: ToolsetManifest,
  tool: CommandManifest,
  specs: readonly FlagSpec[],
  single: boolean,
): string {
  const name = getCommandName(manifest, tool, single)
  const errors = Object.entries(tool.errors).map(([code, { message }]) => `${code} ${message}`)
  const examples = tool.examples.flatMap(
    (example) => formatExampleCommand(manifest, tool, example, single) ?? [],
  )
  return joinLines([
    `${name} ${DASH} ${toOneLine(tool.summary)}`,
    ...listDescription(tool).map(toOneLine),
    ...(tool.annotations.destructive ? ['Destructive: needs --yes'] : []),
    ...examples.slice(0, 2).map((example) => `Example: ${example}`),
    ...specs.filter((spec) => !spec.hidden).map(formatField),
    `JSON: ${name} '<json>'. Schema: ${name} --schema. Output: --output ${OUTPUT_MODES.join('|')}`,
    ...formatList('Errors', errors),
  ])
}

function formatField(spec: FlagSpec): string {
  const { required, choices, valueName, default: byDefault, env, description } = spec
  const facts: string[] = []
  if (required) facts.push('required')
  if (choices && (valueName === 'choice' || isShownArgument(spec)))
    facts.push(`one of ${choices.join(', ')}`)
  if (byDefault !== undefined) facts.push(`default ${JSON.stringify(byDefault)}`)
  if (env !== undefined) facts.push(`env ${env}`)
  const note = facts.length === 0 ? '' : ` (${facts.join('; ')})`
  return `${formatFlagTerm(spec)}${note}${description === undefined ? '' : `: ${toOneLine(description)}`}`
}

function formatFlagTerm(spec: FlagSpec): string {
  return isShownArgument(spec) ? formatArgumentTerm(spec) : formatOptionTerm(spec)
}

function formatList(title: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`${title}: ${items.map(toOneLine).join('; ')}`]
}

function joinLines(all: readonly string[]): string {
  return `${all.join('\n')}\n`
}

/** The commands under a path, those of each group under its own heading. */
function formatCommandSections(
  page: HelpPage,
  manifest: ToolsetManifest,
  under: readonly string[] = [],
): string[][] {
  const groups = new Map<string, CommandManifest[]>()
  for (const command of manifest.tools) {
    if (!isUnderPath(command, under)) continue
    const group = command.path.slice(0, -1).join(' ')
    groups.set(group, [...(groups.get(group) ?? []), command])
  }
  const own = under.join(' ')
  const names = [...groups.keys()].sort(
    (left, right) => Number(left !== '' && left !== own) - Number(right !== '' && right !== own),
  )
  return names.map((name) => {
    const title = name === '' ? 'Commands' : `Commands: ${name}`
    return formatListSection(page, title, groups.get(name)!.map(toCommandRow))
  })
}

function toCommandRow(command: CommandManifest): HelpListRow {
  return compact({
    term: command.path.join(' '),
    text: command.summary,
    warning: command.annotations.destructive ? '(destructive)' : undefined,
  })
}
