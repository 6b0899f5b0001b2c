import type { Io } from '../../contract/io.ts'
import type { Servable } from '../../call/servable.ts'
import type { Command } from './argv/command.ts'
import { answerTool } from './documents.ts'
import type { Host } from './host.ts'
import { documentOptions, printDocument } from './print-document.ts'
import { printHelp } from './print-help.ts'
import { scanTool } from './request.ts'
import { startCall } from './start-call.ts'
import type { Perform } from './start-call.ts'
import { redirectStrayOutput } from './stray-output.ts'

/** Does what is asked of one tool: help, a document about it, or a call. `perform` takes the place of the call. */
export async function runTool(
  set: Servable,
  command: Command & { kind: 'tool' },
  io: Io,
  host: Host,
  perform?: Perform,
): Promise<number> {
  const { entry, single, globals } = command
  const args = await scanTool(entry, command.tokens, globals, single)
  if (globals.help) return printHelp(set, command, io)
  const problem = command.problem ?? args.problem
  if (problem) throw problem
  // A program called without a word shows its help, unless its input comes down a pipe.
  const instead = command.bare ? () => printHelp(set, command, io) : undefined
  if (instead && !args.specs.some((spec) => spec.required)) return instead()
  if (!globals.asked)
    return startCall({
      set,
      entry,
      single,
      args,
      globals,
      io,
      host,
      withoutInput: instead,
      perform,
    })
  host.prepareForTools(redirectStrayOutput)
  const answered = await answerTool(
    globals.asked.what,
    globals.asked.values,
    set,
    entry,
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
  return printDocument(io, answered.document, answered.exit)
}
