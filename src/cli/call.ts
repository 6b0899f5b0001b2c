/**
 * One tool call on the command line, from its arguments to the exit status: `runTool` reads the
 * arguments, `startCall` the input, `callTool` runs the tool and prints the outcome.
 */

import { expectSingleCall } from '../core/call-scope.ts'
import type { CancelSignal, ServerCallOptions } from '../core/call.ts'
import { invoke } from '../core/invoke.ts'
import type { Servable } from '../core/tool.ts'
import type { Io } from '../protocol/io.ts'
import { toMilliseconds } from '../protocol/limits.ts'
import type { Outcome } from '../protocol/outcome.ts'
import type { DialectContext } from '../protocol/output-protocols.ts'
import { loadDialectWriter } from '../protocol/output.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'
import { detectCaller } from './caller.ts'
import type { ParsedCommand } from './command.ts'
import { answerToolFlag, createDocumentOptions, printDocument, printHelp } from './documents.ts'
import type { GlobalFlags } from './global-flags.ts'
import type { CliCall, CommandHost } from './host.ts'
import type { ToolArguments } from './input.ts'
import { readInput, scanToolArguments } from './input.ts'
import { createEventPrinter, createResponders } from './interaction.ts'
import {
  createDialectContext,
  createFailureOutcome,
  getExitStatus,
  printOutcome,
} from './output.ts'
import { choosePresentation, readSettings } from './presentation.ts'
import type { ShapeOptions } from './result-shape.ts'
import { redirectStrayOutput } from './stray-output.ts'

/**
 * Does what is asked of one tool: help, a document about it, or a call. `perform` takes the place
 * of the call.
 */
export async function runTool(
  set: Servable,
  command: ParsedCommand & { kind: 'tool' },
  io: Io,
  host: CommandHost,
  perform?: CallPerformer,
): Promise<number> {
  const { entry, single, globals } = command
  const args = await scanToolArguments(entry, command.tokens, globals, single)
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
  const answered = await answerToolFlag(
    globals.asked.what,
    globals.asked.values,
    set,
    entry,
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
  return printDocument(io, answered.document, answered.exit)
}

/** Does a call whose input has been read; gives the exit status. */
export type CallPerformer = (call: CliCall) => Promise<number>

type CallStart = Pick<CliCall, 'set' | 'entry' | 'single' | 'globals' | 'io'> & {
  readonly args: ToolArguments
  readonly host: CommandHost
  /** Done instead when no JSON came. */
  readonly withoutInput?: (() => Promise<number>) | undefined
  /** Done instead of calling the tool; then nothing has been prepared for handlers. */
  readonly perform?: CallPerformer | undefined
}

/** Reads the input of one tool call and runs it; gives the exit status. */
async function startCall({
  set,
  entry,
  single,
  args,
  globals,
  io,
  host,
  withoutInput,
  perform,
}: CallStart): Promise<number> {
  const settings = await readSettings(io)
  const caller = detectCaller(io.env)
  const presentation = choosePresentation(globals, io, caller, settings, set.options.defaultOutput)
  const ending = host.ending ?? host.signal
  if (!perform) {
    host.prepareForTools(redirectStrayOutput)
    if (host.ending) expectSingleCall()
  }
  const talksOnStdin = globals.session === true || globals.sampleVia === 'stdin'
  const secrets = await loadSecrets(globals, io, { talksOnStdin, signal: ending })
  const stdinTaken = talksOnStdin || io.stdin.taken
  const { input, origin, warnings } = await readInput(args, globals, io, {
    defaults: settings.getDefaults(set.name, entry.name),
    stdinTaken,
    signal: ending,
  })
  if (withoutInput && origin === 'flags') return withoutInput()
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
    caller,
    io,
    ending,
    observer: host.observer,
    timeout: capAtRunDeadline(
      globals.timeout ?? io.env['TOOLABLE_TIMEOUT'] ?? settings.timeout,
      io,
    ),
  })
}

// A runner ends its tool at DEADLINE_TS; the tool should know, and be done before.
function capAtRunDeadline(timeout: string | undefined, { env, now }: Io): string | undefined {
  const left = env['RUN_ID'] ? (Date.parse(env['DEADLINE_TS'] ?? '') - now()) / 1000 : Number.NaN
  if (
    Number.isNaN(left) ||
    (timeout !== undefined && toMilliseconds(timeout, 'timeout') <= left * 1000)
  )
    return timeout
  return String(Math.max(0.001, left))
}

async function loadSecrets(
  { secretFiles }: GlobalFlags,
  io: Io,
  options: { readonly talksOnStdin: boolean; readonly signal: CancelSignal },
): Promise<{ readonly [name: string]: string }> {
  const laidOut = io.env['RUN_ID'] ? io.env['SECRETS_DIR'] : undefined
  if (secretFiles.length === 0 && !laidOut) return {}
  const { readSecretsFolder, readSecrets } = await import('./secrets.ts')
  return {
    ...(laidOut && readSecretsFolder(laidOut)),
    ...(await readSecrets(secretFiles, io, options)),
  }
}

/** Runs one tool from the command line and prints its outcome; gives the exit status. */
export async function callTool(call: CliCall): Promise<number> {
  const { set, entry, globals, presentation, io, input, observer } = call
  const writer = await loadDialectWriter(presentation.dialect)
  const context = createDialectContext(
    io,
    entry.name,
    entry.definition.hooks.redact ? undefined : input,
  )
  const streamed = globals.stream === true || writer.alwaysStreams
  const events = await createEventPrinter({
    io,
    presentation,
    context,
    streamed,
    session: globals.session === true,
    quiet: globals.quiet === true,
    verbose: globals.verbose,
    label: entry.path.join(' '),
  })
  const responders = createResponders({
    call,
    context,
    send: events.sendLine,
    whileAsking: events.whileAsking,
  })

  let outcome: Outcome
  try {
    const options: ServerCallOptions = compact({
      cancellation: call.ending,
      timeout: call.timeout,
      dryRun: globals.dryRun ? true : undefined,
      confirm: globals.yes === true ? true : responders.confirm,
      answer: responders.answer,
      sample: responders.sample,
      caller: call.caller ? call.caller.name : undefined,
      idempotencyKey: globals.idempotencyKey,
      // What is printed is the outcome itself, not its record.
      unrecorded: true,
      onEvent: !observer
        ? events.onEvent
        : (event) => {
            if (event.type !== 'tool_invoked') observer.onEvent(event)
            return events.onEvent(event)
          },
      cwd: io.cwd,
      env: io.env,
      secrets: call.secrets,
      verbose: globals.verbose,
    })
    const shape = {
      fields: globals.fields,
      filter: globals.filter.length > 0 ? globals.filter : undefined,
      limit: globals.limit,
      cursor: globals.cursor,
      callKey: `${entry.name} ${JSON.stringify(input)}`,
    }
    const shaping = hasShapeOptions(shape) ? await import('./result-shape.ts') : undefined
    shaping?.checkShapeOptions(shape)
    await events.start()
    const finished = await invoke(
      entry.definition,
      input,
      options,
      entry.identity ?? { toolset: set.name, version: set.version },
    )
    const origin = finished.error?.cause
    if (globals.verbose > 0 && origin instanceof Error && origin.stack !== undefined)
      await events.onEvent({ type: 'log', level: 'debug', message: origin.stack })
    outcome = await applyBudget(
      shaping?.shapeOutcome(finished.outcome, shape) ?? finished.outcome,
      globals.maxTokens,
    )
  } catch (error) {
    if (!ToolError.is(error)) throw error
    outcome = createFailureOutcome(error.toObject(), `${set.name}.${entry.name}`, set.version)
  }
  await events.stop()
  return printCallOutcome(outcome, call, context, streamed)
}

async function applyBudget(outcome: Outcome, maxTokens: number | undefined): Promise<Outcome> {
  if (maxTokens === undefined) return outcome
  const [{ applyTokenBudget }, { createSpillWriter }] = await Promise.all([
    import('./token-budget.ts'),
    import('./token-budget.ts'),
  ])
  return applyTokenBudget(outcome, maxTokens, createSpillWriter())
}

function hasShapeOptions({ fields, filter, limit, cursor }: ShapeOptions): boolean {
  return [fields, filter, limit, cursor].some((option) => option !== undefined)
}

/**
 * Prints the outcome of a call, a failure with the command that would go on; gives the exit status.
 */
export async function printCallOutcome(
  outcome: Outcome,
  call: CliCall,
  context: DialectContext,
  streamed: boolean,
): Promise<number> {
  const paste = outcome.ok ? undefined : await import('./suggest-command.ts')
  const complete = addWarnings(paste?.addRepairCommand(outcome, call) ?? outcome, call.warnings)
  const renderInput =
    paste &&
    ((repaired: { readonly [field: string]: unknown }): string =>
      paste.formatRepairCommand(call, repaired))
  await printOutcome(complete, {
    io: call.io,
    presentation: call.presentation,
    context,
    streamed,
    quiet: call.globals.quiet === true,
    renderInput,
    renderResult: call.renderResult,
    observer: call.observer,
  })
  return getExitStatus(complete, call.origin)
}

function addWarnings(outcome: Outcome, warnings: readonly string[]): Outcome {
  if (warnings.length === 0) return outcome
  return {
    ...outcome,
    meta: { ...outcome.meta, warnings: [...warnings, ...(outcome.meta.warnings ?? [])] },
  }
}
