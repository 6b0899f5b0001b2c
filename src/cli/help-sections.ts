/**
 * The parts that help and generated documents share: options, examples, resources and prompts, exit
 * codes.
 */

import { toFlagSpecs } from '../define/flag-specs.ts'
import type { FlagSpec, GlobalFlag } from '../define/global-flags.ts'
import type { DeclaredError } from '../protocol/errors.ts'
import { getErrorInfo, toExitCode } from '../protocol/errors.ts'
import { EXIT_STATUSES } from '../protocol/exit-statuses.ts'
import type { Example, PromptManifest, ToolsetManifest } from '../protocol/manifest.ts'
import { quoteForShell } from '../util/text.ts'
import { compact } from '../util/values.ts'
import type { CommandManifest } from './command-line.ts'
import { formatCommandLine } from './command-line.ts'
import type { HelpListRow, HelpPage } from './formats/text-layout.ts'
import { formatListSection, toOneLine } from './formats/text-layout.ts'

/** The arguments of a tool that are given by position. */
export function listArgumentRows(specs: readonly FlagSpec[]): HelpListRow[] {
  return specs
    .filter(isShownArgument)
    .map((spec) => ({
      term: formatArgumentTerm(spec),
      text: spec.description ?? '',
      notes: [
        ...(spec.valueName === 'text' || spec.choices ? [] : [`(${spec.valueName})`]),
        ...listNotes(spec, true),
      ],
    }))
}

/** The flags of a tool for its own fields. */
export function listOptionRows(specs: readonly FlagSpec[]): HelpListRow[] {
  const shown = specs.filter((spec) => !isShownArgument(spec) && !spec.hidden)
  return shown.map((spec) =>
    compact({
      term: formatShortPrefix(spec, shown) + formatOptionTerm(spec),
      text: spec.description ?? '',
      warning: spec.required ? '(required)' : undefined,
      notes: listNotes(spec, false),
    }),
  )
}

/** Flags that the tool did not declare. */
export function listGlobalFlagRows(flags: readonly GlobalFlag[]): HelpListRow[] {
  const shown = flags.filter((flag) => !flag.hidden)
  return shown.map((flag) =>
    compact({
      term: formatShortPrefix(flag, shown) + formatGlobalFlagTerm(flag),
      text: flag.description,
      notes: flag.choices ? [`[${flag.choices.join(', ')}]`] : undefined,
    }),
  )
}

/** The arguments of a command in one line: `<pattern> --name <text> [options]`. */
export function formatUsageArguments(specs: readonly FlagSpec[]): string {
  const required = specs
    .filter((spec) => !isShownArgument(spec) && spec.required && !spec.hidden)
    .map(formatOptionTerm)
  return [...specs.filter(isShownArgument).map(formatArgumentTerm), ...required, '[options]'].join(
    ' ',
  )
}

/** `<files>...` or `[files]...` for what is given by position. */
export function formatArgumentTerm(spec: FlagSpec): string {
  return `${spec.required ? `<${spec.long}>` : `[${spec.long}]`}${spec.kind === 'list' ? '...' : ''}`
}

/** `--name <text>`, or `--[no-]name` for a boolean. */
export function formatOptionTerm(spec: FlagSpec): string {
  // A reserved field is fed by its injected flag, which is switched on only.
  if (spec.fedBy === 'verbose' || spec.fedBy === 'dry-run') return `--${spec.long}`
  if (spec.kind === 'boolean') return `--[no-]${spec.long}`
  return `--${spec.long} <${spec.valueName}>${spec.kind === 'list' ? '...' : ''}`
}

/** True for a field that help shows as an argument. */
export function isShownArgument(spec: FlagSpec): boolean {
  return spec.positional && !spec.hidden
}

/**
 * True for a default that needs no saying: an empty list, an object without keys, a switch that is
 * off.
 */
export function isEmptyValue(value: unknown): boolean {
  return (
    value === '' ||
    value === null ||
    value === false ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  )
}

// `--prompt <name> <json>`.
function formatGlobalFlagTerm(flag: GlobalFlag): string {
  const values =
    flag.valueName === undefined ? [] : flag.valueName.split(' ').map((name) => `<${name}>`)
  return [`--${flag.long}`, ...values].join(' ') + (flag.kind === 'list' ? '...' : '')
}

type ShortFlag = { readonly short?: string | undefined }

// The long names are aligned where any flag beside them has a short one.
function formatShortPrefix({ short }: ShortFlag, all: readonly ShortFlag[]): string {
  if (short !== undefined) return `-${short}, `
  return all.some((other) => other.short !== undefined) ? '    ' : ''
}

function listNotes(spec: FlagSpec, always: boolean): string[] {
  const { choices, valueName, default: byDefault, env } = spec
  const notes: string[] = []
  if (choices && (always || valueName === 'choice')) notes.push(`[${choices.join(', ')}]`)
  if (byDefault !== undefined && !isEmptyValue(byDefault)) {
    const text = typeof byDefault === 'string' ? byDefault : JSON.stringify(byDefault)
    notes.push(`[default: ${text}]`)
  }
  if (env !== undefined) notes.push(`[env: ${env}]`)
  return notes
}

/** An example with the tool that it calls. */
export type ToolExample = { readonly tool: CommandManifest; readonly example: Example }

/** Each example as a comment and the command line under it, ready to be pasted. */
export function formatExampleLines(
  page: HelpPage,
  manifest: ToolsetManifest,
  examples: readonly ToolExample[],
  single: boolean,
): string[] {
  const blocks = examples.flatMap(({ tool, example }) => {
    const line = formatExampleCommand(manifest, tool, example, single)
    if (line === undefined) return []
    return [
      example.description === undefined
        ? [line]
        : [page.paint('dim', `# ${toOneLine(example.description)}`), line],
    ]
  })
  return blocks.flatMap((block, index) => (index > 0 && block.length > 1 ? ['', ...block] : block))
}

/** The command line of an example; undefined when it gives neither input nor arguments. */
export function formatExampleCommand(
  manifest: ToolsetManifest,
  tool: CommandManifest,
  example: Example,
  single: boolean,
): string | undefined {
  const path = single ? [] : tool.path
  if (example.args)
    return [manifest.name, ...[...path, ...example.args].map(quoteForShell)].join(' ')
  return (
    example.input &&
    formatCommandLine(
      manifest.name,
      path,
      toFlagSpecs(tool),
      example.input,
      single ? [tool.name] : [],
    )
  )
}

/** The resources and prompts of a program. */
export function formatContentSections(page: HelpPage, manifest: ToolsetManifest): string[][] {
  const resources = manifest.resources.map(({ uri, summary }) => ({ term: uri, text: summary }))
  const prompts = manifest.prompts.map((prompt) => ({
    term: formatPromptSignature(prompt),
    text: prompt.summary,
  }))
  return [
    formatListSection(page, 'Resources', resources),
    formatListSection(page, 'Prompts', prompts),
  ]
}

/** `review(code, style?)`. */
export function formatPromptSignature({ name, arguments: given }: PromptManifest): string {
  if (given.length === 0) return name
  const names = given.map((argument) => (argument.required ? argument.name : `${argument.name}?`))
  return `${name}(${names.join(', ')})`
}

/** All exit codes in one sentence. */
export function formatExitCodes(): string {
  return EXIT_STATUSES.map(({ status, meaning }) => `${status} ${meaning}`).join(', ')
}

/** The errors that a tool declares, each with its exit status. */
export function listErrorRows(errors: { readonly [code: string]: DeclaredError }): HelpListRow[] {
  return Object.entries(errors).map(([code, declared]) => {
    const facts = getErrorInfo(code, declared)
    const status = toExitCode({ code, ...facts })
    return {
      term: code,
      text: declared.message,
      notes: [`[exit ${status}${facts.retryable ? ', may work later' : ''}]`],
    }
  })
}
