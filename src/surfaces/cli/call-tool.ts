import { writerOf } from '../../contract/dialects/index.ts'
import type { DialectContext } from '../../contract/dialects/dialect.ts'
import type { InputOrigin } from '../../contract/errors.ts'
import type { Io } from '../../contract/io.ts'
import { isObject } from '../../contract/json.ts'
import type { FailureOutcome, Outcome, Suggestion } from '../../contract/outcome.ts'
import type { ToolEntry } from '../../call/collect.ts'
import type { CallOptions } from '../../call/options.ts'
import { invoke } from '../../call/pipeline.ts'
import type { Toolset } from '../toolset.ts'
import type { Globals } from './argv/globals.ts'
import type { Caller } from './caller.ts'
import { commandLine } from './command-line.ts'
import { listenToEvents } from './events.ts'
import type { FlagSpec } from './flag-spec.ts'
import type { Presentation } from './mode.ts'
import { checkShapeOptions, shapeOutcome } from './output/shape.ts'
import { exitStatus, printOutcome } from './print-outcome.ts'
import { connectResponders } from './responders.ts'
import { ToolError } from '../../contract/tool-error.ts'

export type ToolCall = {
  readonly set: Toolset
  readonly entry: ToolEntry
  readonly single: boolean
  readonly specs: readonly FlagSpec[]
  readonly input: unknown
  readonly origin: InputOrigin
  readonly secrets: { readonly [name: string]: string }
  readonly warnings: readonly string[]
  readonly globals: Globals
  readonly presentation: Presentation
  readonly caller: Caller | undefined
  readonly io: Io
  readonly signal: AbortSignal
  readonly timeout: string | undefined
}

/** Runs one tool from the command line and prints its outcome; gives the exit status. */
export async function callTool(call: ToolCall): Promise<number> {
  const { set, entry, globals, presentation, io, input } = call
  const writer = writerOf(presentation.dialect)
  const context = dialectContext(call)
  const streamed = globals.stream === true || writer.alwaysStreams
  const events = await listenToEvents({ io, presentation, context, streamed, session: globals.session === true, quiet: globals.quiet === true, verbose: globals.verbose, label: entry.path.join(' ') })
  const responders = connectResponders({ call, context, send: events.sendLine, whileAsking: events.whileAsking })

  let outcome: Outcome
  try {
    const options: CallOptions = {
      signal: call.signal,
      ...(call.timeout !== undefined && { timeout: call.timeout }),
      ...(globals.dryRun && { dryRun: true }),
      confirm: globals.yes === true ? true : responders.confirm,
      ...(responders.answer && { answer: responders.answer }),
      ...(responders.sample && { sample: responders.sample }),
      ...(call.caller && { caller: call.caller.name }),
      ...(globals.idempotencyKey !== undefined && { idempotencyKey: globals.idempotencyKey }),
      onEvent: events.onEvent,
      cwd: io.cwd,
      env: io.env,
      secrets: call.secrets,
      verbose: globals.verbose,
    }
    const shape = { fields: globals.fields, filter: globals.filter.length > 0 ? globals.filter : undefined, limit: globals.limit, cursor: globals.cursor, callKey: `${entry.name} ${JSON.stringify(input)}` }
    checkShapeOptions(shape)
    await events.start()
    const finished = await invoke(entry.definition, input, options, { toolset: set.name, version: set.version })
    const origin = finished.error?.cause
    if (globals.verbose > 0 && origin instanceof Error && origin.stack !== undefined) await events.onEvent({ type: 'log', level: 'debug', message: origin.stack })
    outcome = await fitBudget(shapeOutcome(finished.outcome, shape), globals.maxTokens)
  } catch (error) {
    if (!ToolError.is(error)) throw error
    outcome = { ok: false, status: 'error', error: error.toObject(), meta: { tool: `${set.name}.${entry.name}`, version: set.version, duration_ms: 0 } }
  }
  await events.stop()
  outcome = withWarnings(withPaste(outcome, call), call.warnings)
  const renderInput = (repaired: { readonly [field: string]: unknown }): string => pasteable(call, repaired)
  await printOutcome(outcome, { io, presentation, context, streamed, quiet: globals.quiet === true, renderInput })
  return exitStatus(outcome, call.origin)
}

function dialectContext({ entry, io, input }: ToolCall): DialectContext {
  return {
    tool: entry.name,
    runId: io.env['RUN_ID'] ?? `r-${Math.floor(Math.random() * 2 ** 40).toString(16).padStart(10, '0')}`,
    ...(io.env['TRACE_ID'] && { traceId: io.env['TRACE_ID'] }),
    now: () => new Date(io.now()).toISOString(),
    input: entry.definition.hooks.redact ? undefined : input,
  }
}

async function fitBudget(outcome: Outcome, maxTokens: number | undefined): Promise<Outcome> {
  if (maxTokens === undefined) return outcome
  const [{ applyTokenBudget }, { createSpill }] = await Promise.all([import('./output/token-budget.ts'), import('./output/spill.ts')])
  return applyTokenBudget(outcome, maxTokens, createSpill())
}

const FLAGS_THAT_HELP: { readonly [code: string]: (error: { readonly message: string }) => string } = {
  CONFIRMATION_REQUIRED: () => '--yes',
  ANSWER_REQUIRED: ({ message }) => (message.includes('completion') ? '--sample-via stdin' : '--session'),
}

// The failure names the exact command that would go on.
function withPaste(outcome: Outcome, call: ToolCall): Outcome {
  if (outcome.ok || !isObject(call.input)) return outcome
  if (outcome.error.code === 'MISSING_PARAM' && call.origin === 'flags') return withUsage(outcome, call)
  const flag = Object.hasOwn(FLAGS_THAT_HELP, outcome.error.code) ? FLAGS_THAT_HELP[outcome.error.code]!(outcome.error) : undefined
  if (flag === undefined || outcome.error.suggestion?.example !== undefined) return outcome
  const given: Suggestion = outcome.error.suggestion ?? { action: 'retry_with_modified_input', fix: `Call again with ${flag}`, applicability: 'maybe_incorrect' }
  const { input: _unused, ...suggestion } = given
  return { ...outcome, error: { ...outcome.error, suggestion: { ...suggestion, example: `${pasteable(call, call.input)} ${flag}` } } }
}

// What is missing stands as a placeholder where it belongs.
function withUsage(outcome: FailureOutcome, { set, entry, single, specs }: ToolCall): FailureOutcome {
  const words = specs.filter((spec) => spec.required).map((spec) => (spec.positional ? `<${spec.long}>` : `--${spec.long} <${spec.valueName}>`))
  const suggestion: Suggestion = { action: 'retry_with_modified_input', fix: outcome.error.suggestion?.fix ?? 'Give what is missing', example: [set.name, ...(single ? [] : entry.path), ...words].join(' '), applicability: 'has_placeholders' }
  return { ...outcome, error: { ...outcome.error, suggestion } }
}

function pasteable({ set, entry, single, specs }: ToolCall, input: { readonly [field: string]: unknown }): string {
  return commandLine(set.name, single ? [] : entry.path, specs, input)
}

function withWarnings(outcome: Outcome, warnings: readonly string[]): Outcome {
  if (warnings.length === 0) return outcome
  return { ...outcome, meta: { ...outcome.meta, warnings: [...warnings, ...(outcome.meta.warnings ?? [])] } }
}
