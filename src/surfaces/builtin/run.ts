import type { Io } from '../../contract/io.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { findBuiltin } from '../cli/argv/command.ts'
import type { Command } from '../cli/argv/command.ts'
import { COMPLETE_COMMAND } from '../cli/builtin-commands.ts'
import { printFailure } from '../cli/fail.ts'
import type { Host } from '../cli/host.ts'
import { printHelp } from '../cli/print-help.ts'
import { runTool } from '../cli/run-tool.ts'
import type { Servable } from '../../call/servable.ts'
import type { Builtin } from './builtin.ts'
import { builtinsOf } from './list.ts'
import { toolsetOf } from './toolset-of.ts'

type BuiltinCommand = Command & { kind: 'builtin' }

/** Runs a command that every program has; gives the exit status. */
export async function runBuiltin(
  set: Servable,
  command: BuiltinCommand,
  io: Io,
  host: Host,
): Promise<number> {
  if (command.name === COMPLETE_COMMAND)
    return (await import('./complete.ts')).complete(set, command.rest, io, host)
  const builtins = await builtinsOf(command.name, set, host, command.rest[0])
  if (builtins.length === 0)
    throw new ToolError('USAGE', `'${command.name}' is not part of this build of toolable`)
  return runAmong(builtins, set, command, io, host)
}

/** Runs the one of some commands that the words name, the same way as a tool of a toolset. */
export async function runAmong(
  builtins: readonly Builtin[],
  set: Servable,
  { name, rest, globals, problem }: BuiltinCommand,
  io: Io,
  host: Host,
): Promise<number> {
  const own = toolsetOf(builtins, set, host)
  const command = findBuiltin(own.entries, [name, ...rest], { globals, problem })
  try {
    if (command.kind === 'tool')
      return await runTool(
        own,
        command,
        io,
        host,
        await performer(builtins, command.entry.path, set, io, host),
      )
    if (command.problem && !globals.help) throw command.problem
    return await printHelp(own, command, io)
  } catch (error) {
    return printFailure(own, error, command, io, host)
  }
}

async function performer(
  builtins: readonly Builtin[],
  path: readonly string[],
  set: Servable,
  io: Io,
  host: Host,
) {
  const start = builtins.find((builtin) => builtin.path.join(' ') === path.join(' '))?.start
  return start && (await import('./start.ts')).performStart(start, set, io, host)
}
