import type { Interaction } from '../contract/interaction.ts'
import type { ToolEvent } from '../contract/events.ts'
import type { Outcome } from '../contract/outcome.ts'
import { ToolError } from '../contract/tool-error.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { randomId } from './ask.ts'
import { createContext } from './context.ts'
import type { Gathered } from './context.ts'
import { driveGenerator, isGenerator } from './drive.ts'
import { withoutExit } from './exit-guard.ts'
import { toToolError } from './failure.ts'
import { buildMeta, checkAnswer, toOutcome } from './finish.ts'
import type { Answer } from './finish.ts'
import type { Finished, Identity } from './finished.ts'
import { host } from './host.ts'
import type { CallOptions } from './options.ts'
import { prepareInput } from './prepare.ts'
import type { Prepared } from './prepare.ts'
import { runCall } from './running.ts'
import type { RunningCall } from './running.ts'
import { createState } from './state.ts'

/** THE call: validate, ask, run, check, roll back, answer. Never throws; every surface goes through here. */
export async function invoke(definition: ToolDefinition, given: unknown, options: CallOptions = {}, identity: Identity = {}): Promise<Finished> {
  const startedAt = host.clock()
  const gathered: Gathered = { artifacts: [], plan: [], warnings: [] }
  const tool = identity.toolset === undefined ? definition.name : `${identity.toolset}.${definition.name}`
  let prepared: Prepared | undefined
  const meta = () => buildMeta({ tool, version: identity.version, startedAt, dryRun: prepared?.dryRun ?? options.dryRun ?? false, warnings: gathered.warnings, caller: options.caller, artifacts: gathered.artifacts })

  let finished: Finished
  try {
    finished = await runCall(options.signal, async (call) => {
      prepared = await prepareInput(definition, given, options)
      const ready = prepared
      const run = async (): Promise<Finished> => {
        const answer = await withoutExit(call.fail, () => execute(definition, ready, options, gathered, call))
        gathered.warnings.push(...answer.warnings)
        return { outcome: toOutcome(answer, meta()), value: answer.value }
      }
      if (options.idempotencyKey === undefined || ready.dryRun) return run()
      const { once } = await import('./idempotency.ts')
      return once({ key: options.idempotencyKey, tool, input: ready.input, env: options.env ?? host.env() }, run)
    })
  } catch (thrown) {
    const error = toToolError(thrown)
    finished = { outcome: { ok: false, status: 'error', error: error.toObject(definition.errors), meta: meta() }, error }
  }
  await report(definition, prepared?.input ?? given, finished.outcome, options)
  return finished
}

async function execute(definition: ToolDefinition, prepared: Prepared, options: CallOptions, gathered: Gathered, call: RunningCall): Promise<Answer> {
  const { hooks, run } = definition
  const input = prepared.input as never
  const state = options.state ?? createState()
  if (prepared.limit !== undefined) call.limitTo(prepared.limit)
  const emit = (event: ToolEvent): void | Promise<void> => {
    if (call.over) return
    if (event.type === 'artifact') gathered.artifacts.push({ name: event.name, uri: event.uri })
    try {
      return options.onEvent?.(event)
    } catch (error) {
      call.fail(toToolError(error))
    }
  }
  const extra = hooks.context ? await hooks.context(input) : {}
  const context = createContext({ tool: definition.name, options, state, cwd: prepared.cwd, dryRun: prepared.dryRun, verbose: prepared.verbose, gathered, signal: call.signal, deadline: call.deadline, emit }, extra)

  await hooks.preValidate?.(input, context)
  if (!run) throw new ToolError('PRECONDITION', `tool '${definition.name}' is described here but cannot be run: it has no handler`, { recoverable: false, suggestion: { action: 'use_different_tool', fix: 'Use another tool' } })
  if (prepared.dryRun && !definition.dryRun) return plain({ dry_run: true, would_execute: redacted(definition, prepared.input) })
  if (definition.annotations.destructive && !prepared.dryRun) await confirm(definition, prepared, options, call)
  if (call.over) throw new ToolError('CANCELLED', 'the call was cancelled')

  const snapshot = state.snapshot()
  try {
    const first = await run(input, context)
    const answer = (prompt: string): Promise<unknown> => askInSession(definition, prompt, options, call)
    const returned = isGenerator(first) ? await driveGenerator(first, { emit, answer, signal: call.signal() }) : first
    if (call.over) state.restore(snapshot)
    if (prepared.dryRun) return plain({ plan: gathered.plan })
    return await checkAnswer(definition, returned)
  } catch (error) {
    state.restore(snapshot)
    throw error
  }
}

async function confirm(definition: ToolDefinition, prepared: Prepared, { confirm: consent = true }: CallOptions, call: RunningCall): Promise<void> {
  if (consent === true) return
  const question: Interaction = { id: randomId(), kind: 'confirm', prompt: `${definition.name} is destructive. Run it with ${JSON.stringify(redacted(definition, prepared.input))}?`, default: false }
  call.deadline()?.pause()
  try {
    if (typeof consent === 'function' && (await consent(question))) return
  } finally {
    call.deadline()?.resume()
  }
  throw new ToolError('CONFIRMATION_REQUIRED', `tool '${definition.name}' is destructive and was not confirmed`, { suggestion: 'Ask the user; then confirm the call' })
}

async function askInSession(definition: ToolDefinition, prompt: string, { answer }: CallOptions, call: RunningCall): Promise<unknown> {
  if (!answer) throw new ToolError('ANSWER_REQUIRED', `tool '${definition.name}' is a session and nobody can answer it`, { suggestion: 'Run it with --session and answer with one JSON object a line' })
  call.deadline()?.pause()
  try {
    return await answer({ id: randomId(), kind: 'input', prompt, dialogue: true }, call.signal())
  } finally {
    call.deadline()?.resume()
  }
}

function redacted({ hooks }: ToolDefinition, input: unknown): unknown {
  return hooks.redact ? hooks.redact(input as never) : input
}

function plain(json: unknown): Answer {
  return { value: json, json, warnings: [], reply: undefined }
}

async function report(definition: ToolDefinition, input: unknown, outcome: Outcome, { onEvent, caller }: CallOptions): Promise<void> {
  if (!onEvent) return
  try {
    await onEvent({ type: 'tool_invoked', tool: definition.name, input: safelyRedacted(definition, input), outcome, ...(caller !== undefined && { caller }), ts: new Date().toISOString() })
  } catch { /* an observer that fails after the end changes nothing any more */ }
}

function safelyRedacted(definition: ToolDefinition, input: unknown): unknown {
  try {
    return redacted(definition, input)
  } catch {
    return '[could not be redacted]'
  }
}
