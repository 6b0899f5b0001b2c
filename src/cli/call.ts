/**
 * One tool call on the command line, from its arguments to the exit status: `runTool` sorts the
 * arguments, `startCall` reads the input, `callTool` runs the tool and prints the outcome.
 */

import { expectSingleCall } from '../core/call-scope.ts'
import type { CancelSignal, ServerCallOptions } from '../core/call.ts'
import { prepareInput } from '../core/context.ts'
import { toToolError } from '../core/errors.ts'
import { invoke } from '../core/invoke.ts'
import type { Servable } from '../core/provider.ts'
import type { GlobalFlags } from '../define/global-flags.ts'
import { toCallOptions } from '../define/global-flags.ts'
import type { ToolArguments } from '../define/tool-arguments.ts'
import { parseToolArguments } from '../define/tool-arguments.ts'
import type { Io } from '../protocol/io.ts'
import { toMilliseconds } from '../protocol/limits.ts'
import type { Outcome } from '../protocol/outcome.ts'
import type { DialectContext } from '../protocol/output-protocols.ts'
import { loadDialectWriter } from '../protocol/output.ts'
import { createFailureOutcome, ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'
import type { ParsedCommand } from './command.ts'
import { answerToolFlag, createDocumentOptions, printAnswer, printHelp } from './documents.ts'
import { readInput } from './input.ts'
import { createEventPrinter, createResponders } from './interaction.ts'
import { createDialectContext, getExitStatus, printOutcome } from './output.ts'
import { choosePresentation, readSettings } from './presentation.ts'
import { redirectStrayOutput } from './stray-output.ts'
import type { BuiltinCommand, CliCall, CommandHost } from './types.ts'

/** Does a call whose input has been read; returns the exit status. */
export type CallPerformer = (call: CliCall) => Promise<number>

/**
 * Does what is asked of one tool: help, a document about it, or a call. `perform` takes the place
 * of the call; then nothing is prepared for handlers.
 */
export async function runTool(
  set: Servable,
  command: ParsedCommand & { kind: 'tool' },
  io: Io,
  host: CommandHost,
  perform?: CallPerformer,
): Promise<number> {
  const { entry, globals } = command
  const args = await parseToolArguments(entry.definition, command.tokens, globals, command.single)
  if (globals.help) return printHelp(set, command, io)
  const problem = command.problem ?? args.problem
  if (problem) throw problem
  // A program called without a word shows its help, unless its input comes down a pipe.
  if (command.bare && !args.specs.some((spec) => spec.required)) return printHelp(set, command, io)
  if (!globals.asked) return startCall(set, command, args, io, host, perform)
  host.prepareForTools(redirectStrayOutput)
  const options = createDocumentOptions(globals, io, host)
  const answer = await answerToolFlag(globals.asked, set, entry, options)
  return printAnswer(answer, set, command, io, host)
}

async function startCall(
  set: Servable,
  command: ParsedCommand & { kind: 'tool' },
  args: ToolArguments,
  io: Io,
  host: CommandHost,
  perform?: CallPerformer,
): Promise<number> {
  const { entry, single, globals } = command
  const settings = await readSettings(io)
  const presentation = choosePresentation(globals, io, set.options.defaultOutput, settings)
  const ending = host.ending ?? host.signal
  if (!perform) {
    host.prepareForTools(redirectStrayOutput)
    if (host.ending) expectSingleCall()
  }
  const talksOnStdin = globals.session === true || globals.sampleVia === 'stdin'
  const secrets = await loadSecrets(globals, io, { talksOnStdin, signal: ending })
  const { input, origin, warnings } = await readInput(args, globals, io, {
    defaults: settings.getDefaults(set.name, entry.name),
    stdinTaken: talksOnStdin || io.stdin.taken,
    signal: ending,
  })
  if (command.bare && origin === 'flags') return printHelp(set, command, io)
  const timeout = globals.timeout ?? io.env['TOOLABLE_TIMEOUT'] ?? settings.timeout
  return (perform ?? callTool)({
    set,
    entry,
    single,
    specs: args.specs,
    input,
    origin,
    warnings,
    secrets,
    globals,
    presentation,
    io,
    ending,
    observer: host.observer,
    timeout: capAtRunDeadline(timeout, io),
  })
}

// A runner ends its tool at DEADLINE_TS; the tool should know, and be done before.
function capAtRunDeadline(timeout: string | undefined, { env, now }: Io): string | undefined {
  if (!env['RUN_ID']) return timeout
  const left = Date.parse(env['DEADLINE_TS'] ?? '') - now()
  if (Number.isNaN(left)) return timeout
  if (timeout !== undefined && toMilliseconds(timeout, 'timeout') <= left) return timeout
  return String(Math.max(0.001, left / 1000))
}

async function loadSecrets(
  { secretFile = [] }: GlobalFlags,
  io: Io,
  options: { readonly talksOnStdin: boolean; readonly signal: CancelSignal },
): Promise<{ readonly [name: string]: string }> {
  const folder = io.env['RUN_ID'] ? io.env['SECRETS_DIR'] : undefined
  if (secretFile.length === 0 && !folder) return {}
  const { readSecretsFolder, readSecrets } = await import('./secrets.ts')
  const fromFolder = folder ? readSecretsFolder(folder) : {}
  return { ...fromFolder, ...(await readSecrets(secretFile, io, options)) }
}

/** Runs one tool from the command line and prints its outcome; returns the exit status. */
export async function callTool(call: CliCall): Promise<number> {
  const { set, entry, globals, presentation, io, input, observer } = call
  const { definition } = entry
  const writer = await loadDialectWriter(presentation.dialect)
  const context = createDialectContext(io, entry.name, definition.hooks.redact ? undefined : input)
  const streamed = globals.stream === true || writer.alwaysStreams
  const events = await createEventPrinter({ call, writer, context, streamed })
  const responders = createResponders({ call, writer, context, events })
  const observe: typeof events.onEvent = (event) => {
    if (event.type !== 'tool_invoked') observer?.onEvent(event)
    return events.onEvent(event)
  }
  let outcome: Outcome
  try {
    const shape = await loadResultShape(call)
    await events.start()
    const options: ServerCallOptions = compact({
      cancellation: call.ending,
      timeout: call.timeout,
      caller: presentation.caller?.name,
      onEvent: observer ? observe : events.onEvent,
      // What is printed is the outcome, not the record of the call.
      unrecorded: true,
      cwd: io.cwd,
      env: io.env,
      secrets: call.secrets,
      verbose: 0,
      ...responders,
      ...toCallOptions(globals),
    })
    const identity = entry.identity ?? { toolset: set.name, version: set.version }
    const finished = await invoke(definition, input, options, identity)
    const cause = finished.error?.cause
    if (globals.verbose && cause instanceof Error && cause.stack !== undefined)
      await events.onEvent({ type: 'log', level: 'debug', message: cause.stack })
    outcome = await applyBudget(shape(finished.outcome), globals.maxTokens)
  } catch (error) {
    if (!ToolError.is(error)) throw error
    outcome = createFailureOutcome(error.toObject(), `${set.name}.${entry.name}`, set.version)
  }
  await events.stop()
  return printCallOutcome(outcome, call, context, streamed)
}

// Wrong options are refused before the tool does its work.
async function loadResultShape({
  entry,
  input,
  globals: { fields, filter, limit, cursor },
}: CliCall): Promise<(outcome: Outcome) => Outcome> {
  if ((fields ?? filter ?? limit ?? cursor) === undefined) return (outcome) => outcome
  const { checkShapeOptions, shapeOutcome } = await import('./result-shape.ts')
  const callKey = `${entry.name} ${JSON.stringify(input)}`
  const options = { fields, filter, limit, cursor, callKey }
  checkShapeOptions(options)
  return (outcome) => shapeOutcome(outcome, options)
}

async function applyBudget(outcome: Outcome, maxTokens: number | undefined): Promise<Outcome> {
  if (maxTokens === undefined) return outcome
  const { applyTokenBudget, createSpillWriter } = await import('./token-budget.ts')
  return applyTokenBudget(outcome, maxTokens, createSpillWriter())
}

/**
 * Lets a built-in command take over stdin and stdout. Its input is checked as a call would, and an
 * error is printed like the failure of a tool.
 */
export function createBuiltinPerformer(
  start: NonNullable<BuiltinCommand['start']>,
  set: Servable,
  io: Io,
  host: CommandHost,
): CallPerformer {
  return async (call) => {
    const { entry, globals } = call
    try {
      const { cwd, env } = io
      const { input } = await prepareInput(entry.definition, call.input, { cwd, env })
      const status = await start(input, { set, io, host, globals })
      if (status !== undefined) return status
    } catch (error) {
      const tool = `${set.name}.${entry.name}`
      const outcome = createFailureOutcome(toToolError(error).toObject(), tool, set.version)
      return printCallOutcome(outcome, call, createDialectContext(io, entry.name), false)
    }
    host.prepareForTools(redirectStrayOutput)
    return callTool(call)
  }
}

// A failure names the command that would succeed.
async function printCallOutcome(
  outcome: Outcome,
  call: CliCall,
  context: DialectContext,
  streamed: boolean,
): Promise<number> {
  const { io, presentation, globals, renderResult, observer, warnings, origin } = call
  const repair = outcome.ok ? undefined : await import('./failure.ts')
  const repaired = repair ? repair.addRepairCommand(outcome, call) : outcome
  await printOutcome(addWarnings(repaired, warnings), {
    io,
    presentation,
    context,
    streamed,
    quiet: globals.quiet === true,
    renderInput: repair && ((input) => repair.formatRepairCommand(call, input)),
    renderResult,
    observer,
  })
  return getExitStatus(repaired, origin)
}

function addWarnings(outcome: Outcome, warnings: readonly string[]): Outcome {
  if (warnings.length === 0) return outcome
  const { meta } = outcome
  return { ...outcome, meta: { ...meta, warnings: [...warnings, ...(meta.warnings ?? [])] } }
}
