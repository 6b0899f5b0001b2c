/**
 * Decides what one command line asks for and does it. Everything that not every start needs is
 * loaded with `import()`.
 */

import type { Servable } from '../core/tool.ts'
import type { Io } from '../protocol/io.ts'
import { parseCommand } from './command.ts'
import type { ParsedCommand } from './command.ts'
import { SIMPLE_JSON_ANSWER, SIMPLE_JSON_PROBE } from './discovery.ts'
import {
  answerProgramFlag,
  createDocumentOptions,
  printDocument,
  printHelp,
  printText,
} from './documents.ts'
import type { CommandHost } from './host.ts'

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
  if (globals.asked!.what === 'version') return printText(io, `${set.version}\n`)
  if (globals.asked!.what === 'serve')
    return (await import('./serve-calls.ts')).serveCalls(set, globals, io, host)
  if (['resource', 'prompt', 'selftest'].includes(globals.asked!.what))
    host.prepareForTools((await import('./stray-output.ts')).redirectStrayOutput)
  if (globals.asked!.what === 'selftest') {
    const document = await (
      await import('./selftest.ts')
    ).runSelftest(set, io, createDocumentOptions(globals, io, host))
    return printDocument(io, document, document.selftest === 'ok' ? 0 : 1)
  }
  const answered = await answerProgramFlag(
    globals.asked!.what,
    globals.asked!.values,
    set,
    createDocumentOptions(globals, io, host),
  )
  if ('failure' in answered)
    return (await import('./failure.ts')).printFailure(
      set,
      answered.failure,
      command,
      io,
      host,
      answered.origin,
    )
  return printDocument(io, answered.document, answered.exit ?? 0)
}
