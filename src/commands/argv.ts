/**
 * Reads the command line before a command is known: a module in place of a command, `--list` and
 * `--describe`, and common flags in front of the command.
 */

import { BUILTIN_COMMANDS, COMPLETE_COMMAND } from '../cli/builtin-names.ts'
import { toFlagName } from '../define/argv.ts'
import { findInstalledModule, looksLikeModule } from '../functions/locate.ts'
import { REGISTRY_PROPERTIES } from './command.ts'
import type { ToolableCommand } from './command.ts'
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
    // It is there, and what is wrong with it is told when it is opened.
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

const VALUE_PROPERTIES = [
  'config',
  'folder',
] as const satisfies readonly (keyof typeof REGISTRY_PROPERTIES)[]
const SWITCH_PROPERTIES = [
  'strict',
  'probeUnsandboxed',
  'cache',
] as const satisfies readonly (keyof typeof REGISTRY_PROPERTIES)[]

/**
 * The question that a command line asks; undefined where it asks none, and where it wants the
 * answer in one of our forms.
 */
export function findRegistryQuery(argv: readonly string[]): RegistryQuery | undefined {
  const { surroundings, end } = readRegistryFlags(argv)
  const [flag, tool, ...more] = argv.slice(end)
  const common = argv.slice(0, end)
  if (flag === '--list' && tool === undefined)
    return { kind: 'list', surroundings, argv: ['list', ...common] }
  if (flag === '--describe' && tool !== undefined && !tool.startsWith('-') && more.length === 0)
    return { kind: 'describe', tool, surroundings, argv: ['describe', ...common, tool] }
  return undefined
}

function readRegistryFlags(argv: readonly string[]): {
  readonly surroundings: RegistryFlags
  readonly end: number
} {
  const found: {
    config?: string
    folder?: string[]
    strict?: boolean
    probeUnsandboxed?: boolean
    cache?: boolean
  } = {}
  let at = 0
  for (; at < argv.length; at += 1) {
    const [word = '', ...rest] = argv[at]!.split('=')
    const named = VALUE_PROPERTIES.find((name) => word === `--${toFlagName(name)}`)
    const onOff = SWITCH_PROPERTIES.find(
      (name) => argv[at] === `--${toFlagName(name)}` || argv[at] === `--no-${toFlagName(name)}`,
    )
    if (named) {
      const value = rest.length > 0 ? rest.join('=') : (argv[(at += 1)] ?? '')
      if (named === 'config') found.config = value
      else (found.folder ??= []).push(value)
    } else if (onOff) found[onOff] = argv[at] === `--${toFlagName(onOff)}`
    else break
  }
  return { surroundings: found, end: at }
}

const COMMON_SWITCHES = Object.entries(REGISTRY_PROPERTIES)
  .filter(([, { type }]) => type === 'boolean')
  .flatMap(([name]) => [`--${toFlagName(name)}`, `--no-${toFlagName(name)}`])
const COMMON_VALUE_FLAGS = Object.entries(REGISTRY_PROPERTIES)
  .filter(([, { type }]) => type !== 'boolean')
  .map(([name]) => `--${toFlagName(name)}`)
const COMMAND_GROUPS = ['serve', 'runs', 'plan', 'workflow']

/**
 * Moves common flags that stand before the command behind it: `toolable --config x list` is
 * `toolable list --config x`.
 */
export function hoistCommonFlags(argv: readonly string[]): readonly string[] {
  let end = 0
  while (end < argv.length) {
    const [name = ''] = argv[end]!.split('=', 1)
    if (COMMON_SWITCHES.includes(name)) end += 1
    else if (COMMON_VALUE_FLAGS.includes(name)) end += argv[end] === name ? 2 : 1
    else break
  }
  const rest = argv.slice(end)
  if (end === 0 || rest[0] === undefined || rest[0].startsWith('-')) return argv
  const words = COMMAND_GROUPS.includes(rest[0]) ? 2 : 1
  return [...rest.slice(0, words), ...argv.slice(0, end), ...rest.slice(words)]
}
