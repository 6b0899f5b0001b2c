import { findInstalled, looksLikeModule } from '../../functions/locate/locate-module.ts'
import { BUILTIN_COMMANDS, COMPLETE_COMMAND } from '../../surfaces/cli/builtin-commands.ts'
import type { ToolableCommand } from '../command.ts'

/** A command line that begins with a module in the place of a command: `toolable ./tools.ts find-files`. */
export type ModuleWords = { readonly module: string; readonly rest: readonly string[] }

/** The module that a command line names: a path, or a package that is installed here and is no command of ours. */
export function findModule(
  argv: readonly string[],
  commands: readonly ToolableCommand[],
  cwd: string,
): ModuleWords | undefined {
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
    return findInstalled(word, cwd) !== undefined
  } catch {
    // It is there, and what is wrong with it is told when it is opened.
    return true
  }
}
