/**
 * Reads the command line before a command is known: a module in place of a command, `--list` and
 * `--describe`, and common flags in front of the command.
 */

import { COMPLETE_COMMAND } from '../cli/builtin-names.ts'
import { BUILTIN_COMMANDS } from '../cli/builtin-words.ts'
import { toFlagName } from '../define/argv.ts'
import { findInstalledModule, looksLikeModule } from '../functions/locate.ts'
import type { ToolableCommand } from './command.ts'
import { REGISTRY_PROPERTIES } from './command.ts'
import type { RegistryFlags } from './config.ts'

/**
 * A command line that begins with a module in the place of a command: `toolable ./tools.ts
 * find-files`.
 */
export type ModuleCommandLine = { readonly module: string; readonly rest: readonly string[] }

/**
 * The module that a command line names: a path, or a package that is installed here and is no
 * command of ours.
 */
export function findModule(
  argv: readonly string[],
  commands: readonly ToolableCommand[],
  cwd: string,
): ModuleCommandLine | undefined {
  const [word, ...rest] = argv
  if (word === undefined || word.startsWith('-')) return undefined
  if (looksLikeModule(word)) return { module: word, rest }
  const isOurs =
    word === 'help' ||
    word === COMPLETE_COMMAND ||
    commands.some(({ path }) => path[0] === word) ||
    BUILTIN_COMMANDS.some(({ name }) => name === word)
  return !isOurs && isInstalled(word, cwd) ? { module: word, rest } : undefined
}

function isInstalled(word: string, cwd: string): boolean {
  try {
    return findInstalledModule(word, cwd) !== undefined
  } catch {
    // It is installed; opening it reports what is wrong with it.
    return true
  }
}

/**
 * `--list` or `--describe <tool>` in the place of a command: the questions of the orchestration's
 * own runner, answered in its own forms.
 */
export type RegistryQuery = {
  readonly kind: 'list' | 'describe'
  /** For `describe`. */
  readonly tool?: string
  readonly surroundings: RegistryFlags
  /**
   * The command that asks the same in our own forms: it has the flags, and the manners of a
   * failure.
   */
  readonly argv: readonly string[]
}

/**
 * The question that a command line asks; undefined where it asks none, and where it wants the
 * answer in one of our forms.
 */
export function findRegistryQuery(argv: readonly string[]): RegistryQuery | undefined {
  const { flags, end } = readLeadingFlags(argv)
  const [flag, tool, ...more] = argv.slice(end)
  const isList = flag === '--list' && tool === undefined
  const isDescribe =
    flag === '--describe' && tool !== undefined && !tool.startsWith('-') && more.length === 0
  // `--strict=true` is read by the commands alone.
  if ((!isList && !isDescribe) || flags.some((each) => each.isSwitch && each.value !== undefined))
    return undefined
  const surroundings = toRegistryFlags(flags)
  const common = argv.slice(0, end)
  if (isList) return { kind: 'list', surroundings, argv: ['list', ...common] }
  return { kind: 'describe', tool: tool!, surroundings, argv: ['describe', ...common, tool!] }
}

/**
 * Moves common flags that stand before the command behind it: `toolable --config x list` is
 * `toolable list --config x`.
 */
export function hoistCommonFlags(
  argv: readonly string[],
  commands: readonly ToolableCommand[],
): readonly string[] {
  const { end } = readLeadingFlags(argv)
  const rest = argv.slice(end)
  if (end === 0 || rest[0] === undefined || rest[0].startsWith('-')) return argv
  const isGroup = commands.some(({ path }) => path.length > 1 && path[0] === rest[0])
  const words = isGroup ? 2 : 1
  return [...rest.slice(0, words), ...argv.slice(0, end), ...rest.slice(words)]
}

type RegistryProperty = keyof typeof REGISTRY_PROPERTIES

/** A common flag as it was typed. */
type LeadingFlag = {
  readonly name: RegistryProperty
  readonly isSwitch: boolean
  /** `--no-…`. */
  readonly isOff: boolean
  /** Of a switch, what follows a `=`. */
  readonly value: string | undefined
}

const PROPERTY_BY_FLAG = new Map(
  (Object.keys(REGISTRY_PROPERTIES) as RegistryProperty[]).map((name) => [toFlagName(name), name]),
)

/** The common flags that a command line begins with, and the index of the word after them. */
function readLeadingFlags(argv: readonly string[]): {
  readonly flags: readonly LeadingFlag[]
  readonly end: number
} {
  const flags: LeadingFlag[] = []
  let end = 0
  for (; end < argv.length; end += 1) {
    const [, off, word = '', value] = /^--(no-)?([^=]*)(?:=(.*))?$/s.exec(argv[end]!) ?? []
    const name = PROPERTY_BY_FLAG.get(word)
    const isSwitch = name !== undefined && REGISTRY_PROPERTIES[name].type === 'boolean'
    const isOff = off !== undefined
    if (name === undefined || (isOff && !isSwitch)) break
    if (isSwitch || value !== undefined) flags.push({ name, isSwitch, isOff, value })
    else flags.push({ name, isSwitch, isOff, value: argv[(end += 1)] ?? '' })
  }
  return { flags, end }
}

function toRegistryFlags(flags: readonly LeadingFlag[]): RegistryFlags {
  const found: { [name in RegistryProperty]?: unknown } = {}
  for (const { name, isSwitch, isOff, value } of flags) {
    if (isSwitch) found[name] = !isOff
    else if (name === 'folder') found.folder = [...((found.folder as string[]) ?? []), value]
    else found[name] = value
  }
  return found as RegistryFlags
}
