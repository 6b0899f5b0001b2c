/**
 * Checks of what an author writes: names, summaries, options, flags, completers. Each throws CONFIG
 * with what to change.
 */

import type { Duration } from '../protocol/limits.ts'
import { toMilliseconds } from '../protocol/limits.ts'
import type { McpOptions, ToolManifest } from '../protocol/manifest.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { findClosest } from '../util/text.ts'
import { compact, isObject, lazyRegExp } from '../util/values.ts'
import type { FlagSpec } from './global-flags.ts'
import { CONTROL_FLAGS, GLOBAL_FLAGS, PROGRAM_FLAGS } from './global-flags.ts'

const NAME_PATTERN = /^[a-z0-9_-]{1,64}$/

/** Refuses a name that not every surface can carry. */
export function checkName(what: string, name: unknown): asserts name is string {
  if (typeof name === 'string' && NAME_PATTERN.test(name)) return
  const repaired =
    typeof name === 'string'
      ? name
          .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
          .toLowerCase()
          .replace(/[^a-z0-9_-]+/g, '_')
          .replace(/^_+|_+$/g, '')
          .slice(0, 64)
      : ''
  throw new ToolError(
    'CONFIG',
    `${what} name ${JSON.stringify(name)} must be 1 to 64 characters of a-z, 0-9, '_' and '-'${NAME_PATTERN.test(repaired) ? `; for example '${repaired}'` : ''}`,
  )
}

/** Refuses a summary that is missing or too long for discovery. */
export function checkSummary(what: string, summary: unknown): asserts summary is string {
  if (typeof summary !== 'string' || summary.trim() === '')
    throw new ToolError('CONFIG', `${what} needs a summary: one line of 1 to 200 characters`)
  if (summary.length > 200)
    throw new ToolError(
      'CONFIG',
      `the summary of ${what} has ${summary.length} characters; 200 are allowed: move the rest to 'description'`,
    )
}

/** Refuses a title that nobody could read. */
export function checkTitle(what: string, title: unknown, option = 'title'): void {
  if (title !== undefined && (typeof title !== 'string' || title.trim() === ''))
    throw new ToolError('CONFIG', `'${option}' of ${what} must be a text that is not empty`)
}

/** Refuses an option that does not exist: a misspelt one would silently do nothing. */
export function checkOptions(what: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((option) => !known.includes(option))
  if (unknown === undefined) return
  const meant = findClosest(unknown, known)
  throw new ToolError(
    'CONFIG',
    `${what} has no option '${unknown}'${meant ? `; did you mean '${meant}'?` : `; the options are ${known.join(', ')}`}`,
  )
}

const MCP_OPTION_NAMES = [
  'task',
  'taskAfter',
  'text',
  'meta',
] as const satisfies readonly (keyof McpOptions)[]
const MCP_TASK_MODES = [
  'never',
  'auto',
  'required',
] as const satisfies readonly McpOptions['task'][]

/** Refuses what cannot be meant in the `mcp` option of a tool; throws CONFIG. */
export function checkMcpOptions(tool: string, given: unknown): asserts given is McpOptions {
  const what = `'mcp' of tool '${tool}'`
  if (!isObject(given))
    throw new ToolError('CONFIG', `${what} must be an object: { task, taskAfter, text, meta }`)
  checkOptions(what, given, MCP_OPTION_NAMES)
  const { task, taskAfter, text, meta } = given as {
    readonly [Option in keyof McpOptions]: unknown
  }
  if (task !== undefined && !MCP_TASK_MODES.includes(task as 'never'))
    throw new ToolError(
      'CONFIG',
      `'task' in ${what} must be one of ${MCP_TASK_MODES.join(', ')}, not ${JSON.stringify(task)}`,
    )
  if (taskAfter !== undefined) checkTaskAfter(what, task, taskAfter)
  if (text !== undefined && typeof text !== 'boolean')
    throw new ToolError('CONFIG', `'text' in ${what} must be true or false`)
  if (meta !== undefined && !isObject(meta))
    throw new ToolError('CONFIG', `'meta' in ${what} must be an object`)
}

function checkTaskAfter(what: string, task: unknown, taskAfter: unknown): void {
  if (task !== 'auto')
    throw new ToolError(
      'CONFIG',
      `'taskAfter' in ${what} says when a call becomes a task, which needs task: 'auto'`,
    )
  try {
    toMilliseconds(taskAfter as Duration)
  } catch (error) {
    throw new ToolError(
      'CONFIG',
      `'taskAfter' in ${what} cannot be used: ${(error as ToolError).message}`,
    )
  }
}

const TYPEABLE_NAME = lazyRegExp('^[\\p{L}\\p{N}][\\p{L}\\p{N}_-]*$')

type FlagOwner = Pick<ToolManifest, 'name' | 'flags' | 'positional'>

/** What the check looks at. */
type CheckedFlag = Pick<
  FlagSpec,
  'field' | 'long' | 'short' | 'fedBy' | 'kind' | 'required' | 'positional'
>

/**
 * Throws CONFIG when the fields of a tool cannot all be told apart on its command line; the message
 * says the way out.
 */
export function checkFlags(manifest: FlagOwner, specs: readonly CheckedFlag[]): void {
  checkFieldNames(manifest, specs)
  checkLongNames(manifest, specs)
  checkShortNames(manifest, specs)
  checkPositionals(manifest, specs)
}

function checkFieldNames(manifest: FlagOwner, specs: readonly CheckedFlag[]): void {
  const fields = new Set(specs.map((spec) => spec.field))
  const known =
    fields.size > 0 ? `the input has ${[...fields].join(', ')}` : 'the input has no fields'
  for (const field of Object.keys(manifest.flags)) {
    if (!fields.has(field))
      rejectFlag(manifest, `\`flags\` names the unknown field "${field}"; ${known}`, field)
  }
  for (const [index, field] of manifest.positional.entries()) {
    if (!fields.has(field))
      rejectFlag(manifest, `\`positional\` names the unknown field "${field}"; ${known}`, field)
    if (manifest.positional.indexOf(field) !== index)
      rejectFlag(manifest, `\`positional\` names the field "${field}" twice`, field)
  }
}

function checkLongNames(manifest: FlagOwner, specs: readonly CheckedFlag[]): void {
  const injected = listGlobalFlagNames()
  const owners = new Map<string, string>()
  for (const { field, long, fedBy } of specs) {
    if (!/^[A-Za-z0-9][\w-]*$/.test(long) && !TYPEABLE_NAME().test(long)) {
      rejectFlag(
        manifest,
        `the field "${field}" cannot be written as the flag --${long}`,
        field,
        formatFlagOption(field, 'my-name'),
      )
    }
    const owner = owners.get(long)
    if (owner !== undefined)
      rejectFlag(
        manifest,
        `the fields "${owner}" and "${field}" both give the flag --${long}`,
        field,
        formatFlagOption(field, `other-${long}`),
      )
    owners.set(long, field)
    if (injected.has(long) && fedBy === undefined) {
      rejectFlag(
        manifest,
        `the field "${field}" gives the flag --${long}, which every tool has already`,
        field,
        formatFlagOption(field, prefixFlagName(long)),
      )
    }
  }
  for (const { field, long } of specs.filter(
    (spec) => spec.kind === 'boolean' && spec.fedBy === undefined,
  )) {
    const owner = owners.get(`no-${long}`)
    let taken: string | undefined
    if (owner !== undefined) taken = `belongs to the field "${owner}"`
    else if (injected.has(`no-${long}`)) taken = 'every tool has already'
    if (taken)
      rejectFlag(
        manifest,
        `the field "${field}" is switched off by --no-${long}, which ${taken}`,
        field,
        formatFlagOption(field, `use-${long}`),
      )
  }
}

function checkShortNames(manifest: FlagOwner, specs: readonly CheckedFlag[]): void {
  const injected = new Map(
    [...GLOBAL_FLAGS, ...PROGRAM_FLAGS].flatMap((flag) =>
      flag.short === undefined ? [] : [[flag.short, flag.long] as const],
    ),
  )
  const owners = new Map<string, string>()
  for (const { field, long, short, fedBy } of specs) {
    if (short === undefined) continue
    if (!/^[A-Za-z]$/.test(short))
      rejectFlag(
        manifest,
        `the short flag "${short}" of the field "${field}" is not one letter`,
        field,
      )
    const flag = injected.get(short)
    if (flag !== undefined && flag !== fedBy)
      rejectFlag(
        manifest,
        `the field "${field}" takes -${short}, which is --${flag} for every tool; choose another letter`,
        field,
      )
    const owner = owners.get(short)
    if (owner !== undefined)
      rejectFlag(
        manifest,
        `the fields "${owner}" and "${field}" both take -${short}; choose another letter for --${long}`,
        field,
      )
    owners.set(short, field)
  }
}

function checkPositionals(manifest: FlagOwner, specs: readonly CheckedFlag[]): void {
  const positional = specs.filter((spec) => spec.positional)
  for (const [index, { field, kind, required }] of positional.entries()) {
    const before = positional[index - 1]
    if (kind === 'list' && index < positional.length - 1)
      rejectFlag(
        manifest,
        `the list "${field}" takes all further arguments; put it last in \`positional\``,
        field,
      )
    if (required && before && !before.required) {
      rejectFlag(
        manifest,
        `the required field "${field}" stands after the optional field "${before.field}" in \`positional\`; put it before`,
        field,
      )
    }
  }
}

/**
 * What to call a flag instead where every tool has one of that name already; undefined where it is
 * free.
 */
export function suggestFlagName(long: string, isBoolean: boolean): string | undefined {
  const injected = listGlobalFlagNames()
  if (injected.has(long)) return prefixFlagName(long)
  return isBoolean && injected.has(`no-${long}`) ? `use-${long}` : undefined
}

function listGlobalFlagNames(): ReadonlySet<string> {
  return new Set(
    [...GLOBAL_FLAGS, ...CONTROL_FLAGS].filter((flag) => !flag.yields).map((flag) => flag.long),
  )
}

// `output` becomes `out-file`, as the documentation of the clash says; other names say whose they
// are.
function prefixFlagName(long: string): string {
  return long === 'output' ? 'out-file' : `tool-${long}`
}

function formatFlagOption(field: string, name: string): string {
  const key = /^[A-Za-z_$][\w$]*$/.test(field) ? field : JSON.stringify(field)
  return `flags: { ${key}: { name: '${name}' } }`
}

function rejectFlag(manifest: FlagOwner, problem: string, field: string, code?: string): never {
  const message = `Tool "${manifest.name}": ${problem}${code === undefined ? '' : `; give it another one: ${code}`}`
  throw new ToolError(
    'CONFIG',
    message,
    compact({
      field,
      suggestion:
        code !== undefined ? { fix: `Add ${code} to the tool`, example: code } : undefined,
    }),
  )
}

/**
 * Values that may follow what somebody typed for one argument; `others` are the arguments that
 * stand already.
 */
export type Completer = (
  value: string,
  others: { readonly [name: string]: string },
) => readonly string[] | Promise<readonly string[]>

/** Completers by the name of the argument. */
export type Completers<Name extends string = string> = { readonly [Argument in Name]?: Completer }

/**
 * Refuses completers that could never be asked; `names` is undefined where they are not known yet.
 * Throws CONFIG.
 */
export function checkCompleters(
  what: string,
  given: unknown,
  names: readonly string[] | undefined,
): void {
  if (!isObject(given))
    throw new ToolError(
      'CONFIG',
      `'complete' of ${what} must be an object of functions, one for each argument`,
    )
  for (const [name, completer] of Object.entries(given)) {
    if (typeof completer !== 'function')
      throw new ToolError(
        'CONFIG',
        `'complete.${name}' of ${what} must be a function: (value, others) => [...]`,
      )
    if (!names || names.includes(name)) continue
    const meant = findClosest(name, names)
    const known = names.length > 0 ? `; the arguments are ${names.join(', ')}` : ''
    throw new ToolError(
      'CONFIG',
      `'complete.${name}' of ${what} completes an argument that does not exist${meant ? `; did you mean '${meant}'?` : known}`,
    )
  }
}

/**
 * Asks the author's completer for an argument; undefined when there is none. Throws INTERNAL when
 * it does not give texts.
 */
export async function runCompleter(
  what: string,
  completers: Completers | undefined,
  name: string,
  value: string,
  others: { readonly [name: string]: string },
): Promise<readonly string[] | undefined> {
  const completer = completers && Object.hasOwn(completers, name) ? completers[name] : undefined
  if (!completer) return undefined
  const found: unknown = await completer(value, others)
  if (Array.isArray(found) && found.every((text) => typeof text === 'string')) return found
  throw new ToolError('INTERNAL', `'complete.${name}' of ${what} must give a list of texts`)
}
