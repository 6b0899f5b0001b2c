/**
 * Runs a built-in command the way a tool is run.
 */

import type { Servable } from '../core/provider.ts'
import type { Io } from '../protocol/io.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { COMPLETE_COMMAND } from './builtin-names.ts'
import { createBuiltinToolset, loadBuiltins } from './builtins.ts'
import { createBuiltinPerformer, runTool } from './call.ts'
import type { ParsedCommand } from './command.ts'
import { parseBuiltinCommand } from './command.ts'
import { printHelp } from './documents.ts'
import type { BuiltinCommand, CommandHost } from './types.ts'

type BuiltinInvocation = ParsedCommand & { kind: 'builtin' }

/** Runs a command that every program has; gives the exit status. */
export async function runBuiltin(
  set: Servable,
  command: BuiltinInvocation,
  io: Io,
  host: CommandHost,
): Promise<number> {
  if (command.name === COMPLETE_COMMAND)
    return (await import('./complete.ts')).completeCommandLine(set, command.rest, io, host)
  const builtins = await loadBuiltins(command.name, set, host, command.rest[0])
  if (builtins.length === 0)
    throw new ToolError('USAGE', `'${command.name}' is not part of this build of toolable`)
  return runMatchingBuiltin(builtins, set, command, io, host)
}

/** Runs the one of some commands that the words name, the same way as a tool of a toolset. */
export async function runMatchingBuiltin(
  builtins: readonly BuiltinCommand[],
  set: Servable,
  { name, rest, globals, problem }: BuiltinInvocation,
  io: Io,
  host: CommandHost,
): Promise<number> {
  const own = createBuiltinToolset(builtins, set, host)
  const command = parseBuiltinCommand(own.entries, [name, ...rest], { globals, problem })
  try {
    if (command.kind === 'tool') {
      const path = command.entry.path.join(' ')
      const start = builtins.find((builtin) => builtin.path.join(' ') === path)?.start
      const perform = start && createBuiltinPerformer(start, set, io, host)
      return await runTool(own, command, io, host, perform)
    }
    if (command.problem && !globals.help) throw command.problem
    return await printHelp(own, command, io)
  } catch (error) {
    return (await import('./failure.ts')).printFailure(own, error, command, io, host)
  }
}
