/**
 * Decides what one command line asks for and does it. Everything that not every start needs is
 * loaded with `import()`.
 */

import type { Servable } from '../core/provider.ts'
import type { Io } from '../protocol/io.ts'
import type { ParsedCommand } from './command.ts'
import { parseCommand } from './command.ts'
import { SIMPLE_JSON_ANSWER, SIMPLE_JSON_PROBE } from './discovery.ts'
import {
  answerProgramFlag,
  createDocumentOptions,
  printAnswer,
  printDocument,
  printHelp,
  printText,
  runsTools,
} from './documents.ts'
import type { CommandHost } from './types.ts'

/** The command line of a toolset; gives the exit status. Touches nothing but `io` and `host`. */
export async function main(
  set: Servable,
  argv: readonly string[],
  io: Io,
  host: CommandHost,
): Promise<number> {
  if (argv.length === 1 && argv[0] === SIMPLE_JSON_PROBE)
    return printDocument(io, SIMPLE_JSON_ANSWER)
  let command: ParsedCommand | undefined
  try {
    command = parseCommand(set, argv)
    return await runCommand(set, command, io, host)
  } catch (error) {
    return (await import('./failure.ts')).printFailure(set, error, command, io, host)
  }
}

async function runCommand(
  set: Servable,
  command: ParsedCommand,
  io: Io,
  host: CommandHost,
): Promise<number> {
  const { globals } = command
  if (command.kind === 'builtin')
    return (await import('./run-builtin.ts')).runBuiltin(set, command, io, host)
  // Help is given for broken command lines too; everything else needs to be read whole.
  if (command.kind === 'tool' && command.bare && io.stdin.isTTY) return printHelp(set, command, io)
  if (command.kind === 'tool') return (await import('./call.ts')).runTool(set, command, io, host)
  if (globals.help || (command.kind === 'program' && !command.problem && !globals.asked))
    return printHelp(set, command, io)
  if (command.problem) throw command.problem
  if (command.kind === 'group') return printHelp(set, command, io)
  const asked = globals.asked!
  if (asked.what === 'version') return printText(io, `${set.version}\n`)
  if (asked.what === 'serve')
    return (await import('./serve-calls.ts')).serveCalls(set, globals, io, host)
  if (runsTools(asked.what))
    host.prepareForTools((await import('./stray-output.ts')).redirectStrayOutput)
  const options = createDocumentOptions(globals, io, host)
  const answer = await answerProgramFlag(asked, set, options, io)
  return printAnswer(answer, set, command, io, host)
}
