import type { ToolEvent } from '../contract/events.ts'
import type { Outcome } from '../contract/outcome.ts'
import { ToolError } from '../contract/tool-error.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { askInSession, confirm } from './consent.ts'
import type { Gathered } from './context.ts'
import { describeFailure } from './describe-failure.ts'
import { driveGenerator, isGenerator } from './drive.ts'
import { admit, enter } from './enter.ts'
import { withoutExit } from './exit-guard.ts'
import { buildMeta, checkAnswer, plainAnswer, succeeded, toOutcome } from './finish.ts'
import type { Answer } from './finish.ts'
import type { Finished, Identity } from './finished.ts'
import { host } from './host.ts'
import type { CallOptions, ServedCallOptions } from './options.ts'
import type { Prepared } from './prepare.ts'
import { showInput, showOutcome } from './redact.ts'
import { runCall } from './running.ts'
import type { RunningCall } from './running.ts'
import { tell } from './tell.ts'

/** THE call: validate, ask, run, check, roll back, answer. Never throws; every surface goes through here. */
export async function invoke(definition: ToolDefinition, given: unknown, options: ServedCallOptions = {}, identity: Identity = {}): Promise<Finished> {
  const startedAt = host.clock()
  const gathered: Gathered = { artifacts: [], plan: [], warnings: [] }
  const tool = identity.tool ?? (identity.toolset === undefined ? definition.name : `${identity.toolset}.${definition.name}`)
  let prepared: Prepared | undefined
  const meta = (facts?: Answer['facts']) => buildMeta({ ...facts, tool, version: identity.version, startedAt, dryRun: prepared?.dryRun ?? options.dryRun ?? false, warnings: gathered.warnings, caller: options.caller, artifacts: gathered.artifacts })

  const finish = (answer: Answer): Finished => {
    gathered.warnings.push(...answer.warnings)
    return { outcome: toOutcome(answer, meta(answer.facts)), value: answer.value }
  }
  const work = (call: RunningCall): Promise<Finished> => {
    const go = (ready: Prepared): Promise<Finished> => {
      prepared = ready
      const run = (): Promise<Finished> => execute({ definition, prepared: ready, options, gathered, call, finish })
      const { idempotencyKey: key, env = host.env() } = options
      return key === undefined || ready.dryRun ? run() : import('./idempotency.ts').then(({ once }) => once({ key, tool, input: ready.input, given, env }, run))
    }
    const admitted = admit(definition, given, options, call)
    return admitted instanceof Promise ? admitted.then(go) : go(admitted)
  }

  let finished: Finished
  try {
    finished = await runCall(options.cancellation ?? options.signal, (call) => (definition.isPassedOn ? work(call) : withoutExit(call, () => work(call))))
  } catch (thrown) {
    const { error, object } = describeFailure(thrown, definition.errors)
    finished = { outcome: { ok: false, status: 'error', error: object, meta: meta() }, error }
  }
  if (options.onEvent && !options.unrecorded) await report(definition, prepared?.input ?? given, finished.outcome, options)
  return finished
}

type Execution = {
  readonly definition: ToolDefinition
  readonly prepared: Prepared
  readonly options: CallOptions
  readonly gathered: Gathered
  readonly call: RunningCall
  finish(answer: Answer): Finished
}

// Awaits only what is a promise: each await costs a call more than the rest of its line.
async function execute({ definition, prepared, options, gathered, call, finish }: Execution): Promise<Finished> {
  const { run } = definition
  const emit = (event: ToolEvent): void | Promise<void> => {
    if (call.over) return
    if (event.type === 'artifact') gathered.artifacts.push({ name: event.name, uri: event.uri })
    return tell(event, options, call)
  }
  const entering = enter({ definition, prepared, options, gathered, call, emit })
  const { context, transaction } = entering instanceof Promise ? await entering : entering
  if (!run) throw new ToolError('PRECONDITION', `tool '${definition.name}' is described here but cannot be run: it has no handler`, { recoverable: false, suggestion: { action: 'use_different_tool', fix: 'Use another tool' } })
  if (prepared.dryRun && !definition.dryRun) return finish(plainAnswer({ dry_run: true, would_execute: showInput(definition, prepared.input) }))
  if (definition.annotations.destructive && !prepared.dryRun) await confirm(definition, prepared.input, options, call)
  if (call.over) throw new ToolError('CANCELLED', 'the call was cancelled')

  const running = run(prepared.input as never, context)
  const first = isThenable(running) ? await running : running
  const answer = (prompt: string): Promise<unknown> => askInSession(definition, prompt, options, call)
  const returned = isGenerator(first) ? await driveGenerator(first, { emit, answer, signal: call.signal }) : first
  const checking = prepared.dryRun ? plainAnswer({ plan: gathered.plan }) : checkAnswer(definition, returned)
  const checked = checking instanceof Promise ? await checking : checking
  call.complete()
  if (succeeded(checked) && !prepared.dryRun) transaction?.commit()
  return finish(checked)
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}

async function report(definition: ToolDefinition, input: unknown, outcome: Outcome, { onEvent, caller }: CallOptions): Promise<void> {
  if (!onEvent) return
  try {
    await onEvent({ type: 'tool_invoked', tool: definition.name, input: showInput(definition, input), outcome: showOutcome(definition, outcome), ...(caller !== undefined && { caller }), ts: new Date().toISOString() })
  } catch { /* an observer that fails after the end changes nothing any more */ }
}
