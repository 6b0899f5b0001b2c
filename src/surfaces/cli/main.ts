import type { Io } from '../../contract/io.ts'
import { SIMPLE_ANSWER, SIMPLE_PROBE } from '../json/simple-probe.ts'
import type { Servable } from '../../call/servable.ts'
import { findCommand } from './argv/command.ts'
import type { Command } from './argv/command.ts'
import { answerProgram } from './documents.ts'
import type { Host } from './host.ts'
import { documentOptions, printDocument, printText } from './print-document.ts'
import { printHelp } from './print-help.ts'

/** The command line of a toolset; gives the exit status. Touches nothing but `io` and `host`. */
export async function main(
  set: Servable,
  argv: readonly string[],
  io: Io,
  host: Host,
): Promise<number> {
  if (argv.length === 1 && argv[0] === SIMPLE_PROBE) return printDocument(io, SIMPLE_ANSWER)
  let command: Command | undefined
  try {
    command = findCommand(set, argv)
    return await runCommand(set, command, io, host)
  } catch (error) {
    return (await import('./fail.ts')).printFailure(set, error, command, io, host)
  }
}

async function runCommand(set: Servable, command: Command, io: Io, host: Host): Promise<number> {
  const { globals } = command
  if (command.kind === 'builtin')
    return (await import('../builtin/run.ts')).runBuiltin(set, command, io, host)
  // Help is given for broken command lines too; everything else needs to be read whole.
  if (command.kind === 'tool' && command.bare && io.stdin.isTTY) return printHelp(set, command, io)
  if (command.kind === 'tool')
    return (await import('./run-tool.ts')).runTool(set, command, io, host)
  if (globals.help || (command.kind === 'program' && !command.problem && !globals.asked))
    return printHelp(set, command, io)
  if (command.problem) throw command.problem
  if (command.kind === 'group') return printHelp(set, command, io)
  if (globals.asked!.what === 'version') return printText(io, `${set.version}\n`)
  if (globals.asked!.what === 'serve')
    return (await import('../serve/serve.ts')).serveCalls(set, globals, io, host)
  if (['resource', 'prompt', 'selftest'].includes(globals.asked!.what))
    host.prepareForTools((await import('./stray-output.ts')).redirectStrayOutput)
  if (globals.asked!.what === 'selftest') {
    const document = await (
      await import('./selftest.ts')
    ).selftest(set, io, documentOptions(globals, io, host))
    return printDocument(io, document, document.selftest === 'ok' ? 0 : 1)
  }
  const answered = await answerProgram(
    globals.asked!.what,
    globals.asked!.values,
    set,
    documentOptions(globals, io, host),
  )
  if ('failure' in answered)
    return (await import('./fail.ts')).printFailure(
      set,
      answered.failure,
      command,
      io,
      host,
      answered.origin,
    )
  return printDocument(io, answered.document, answered.exit ?? 0)
}
