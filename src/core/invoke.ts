/**
 * One call from input to outcome: validate, check guards, confirm, run the handler, check the
 * result, commit or roll back, report. All transports go through here.
 *
 * This is the promise-free fast path. Each step continues synchronously where its value is there
 * and returns a promise only where something has to be waited for (`mapMaybePromise`), because one
 * promise costs a call more than most of its work (`npm run bench call`). The steps are methods of
 * one object and top-level functions, so that no call allocates closures.
 */

import type { ToolDefinition } from '../define/tool-types.ts'
import type { Context } from '../protocol/context.ts'
import { toMilliseconds } from '../protocol/limits.ts'
import type { Artifact, Outcome, OutcomeMeta } from '../protocol/outcome.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { enterBudget } from './budget.ts'
import { runWithExitGuard } from './call-scope.ts'
import { applyRules, validateGuards } from './call.ts'
import type {
  CallIdentity,
  CallOptions,
  CallResult,
  PendingCall,
  ServerCallOptions,
} from './call.ts'
import { CallContext, emitCallEvent, prepareInput } from './context.ts'
import type { GatheredOutput, PreparedCall, PreparedInput } from './context.ts'
import { toToolError } from './errors.ts'
import {
  driveGenerator,
  isGenerator,
  isObserverTimeout,
  redactInput,
  reportInvocation,
} from './events.ts'
import type { ToolGenerator } from './events.ts'
import {
  checkGuards,
  GuardedCallView,
  hasPassedHooks,
  notifyGuards,
} from './guards/check-guards.ts'
import type { GuardCheck } from './guards/check-guards.ts'
import { host } from './host.ts'
import { isThenable, mapMaybePromise, startCall } from './lifecycle.ts'
import type { CallTask, RunningCall } from './lifecycle.ts'
import { askInSession, confirmDestructiveCall } from './questions.ts'
import {
  buildOutcomeMeta,
  checkHandlerResult,
  createPlainResult,
  describeFailure,
  hasSucceeded,
  toOutcome,
} from './result.ts'
import type { HandlerResult } from './result.ts'
import { CallState } from './state/transaction.ts'

/**
 * THE call: validate, ask, run, check, commit or roll back, answer. Never throws; every surface
 * goes through here.
 */
export function invoke(
  definition: ToolDefinition,
  given: unknown,
  options?: ServerCallOptions,
  identity?: CallIdentity,
): Promise<CallResult> {
  const begun = beginCall(definition, given, options, identity)
  return begun.result
    ? Promise.resolve(begun.result)
    : new Promise((resolve) => begun.onFinish(resolve))
}

/** The same for whoever makes a promise of something else: each one costs. */
export function beginCall(
  definition: ToolDefinition,
  given: unknown,
  asked: ServerCallOptions = {},
  identity: CallIdentity = {},
): PendingCall {
  const options = applyRules(definition, asked)
  const passage = new CallExecution(definition, given, options, identity)
  startCall(options.cancellation ?? options.signal, passage)
  return passage
}

/**
 * One call on its way from what was given to what is answered, and all that its steps need to know.
 * A class, because a function for each step would cost more than the steps; and one object, because
 * each costs.
 */
class CallExecution implements PendingCall, CallTask<CallResult>, ExecutableCall {
  result: CallResult | undefined
  readonly definition: ToolDefinition
  readonly options: ServerCallOptions
  /** There as soon as the call begins to work. */
  call!: RunningCall
  /** There as soon as the input is valid. */
  prepared!: PreparedInput
  /** What it does with its state, where it has looked at one. */
  openedState: CallState | undefined
  readonly #given: unknown
  readonly #identity: CallIdentity
  readonly #startedAt = host.clock()
  #react: ((finished: CallResult) => void) | undefined
  #gathered: GatheredOutput | undefined
  #isLeft = false
  #leaveBudget: (() => void) | undefined

  constructor(
    definition: ToolDefinition,
    given: unknown,
    options: ServerCallOptions,
    identity: CallIdentity,
  ) {
    this.definition = definition
    this.options = options
    this.#given = given
    this.#identity = identity
  }

  get gathered(): GatheredOutput {
    return (this.#gathered ??= { artifacts: [], plan: [] })
  }

  get stay(): CallState {
    return this.openedState ?? this.#open()
  }

  #open(): CallState {
    const stay = (this.openedState = new CallState(
      this.options.state,
      this.definition.annotations.readOnly === true,
      this.call,
    ))
    // What is opened after the end is closed at once.
    if (this.#isLeft) void stay.leave()
    return stay
  }

  onFinish(react: (finished: CallResult) => void): void {
    this.#react = react
  }

  work(call: RunningCall): CallResult | Promise<CallResult> {
    this.call = call
    return this.definition.isRemote
      ? acceptAndRun(this)
      : runWithExitGuard(call, acceptAndRun, this)
  }

  /** Everything behind the check of its input. */
  run(prepared: PreparedInput): CallResult | Promise<CallResult> {
    this.prepared = prepared
    const { idempotencyKey: key } = this.options
    return key === undefined || prepared.dryRun ? this.#run() : this.#runOnce(key, prepared)
  }

  #runOnce(key: string, { input }: PreparedInput): Promise<CallResult> {
    const [tool, given, { env = host.env() }] = [this.#tool, this.#given, this.options]
    return import('./idempotency.ts').then(({ runIdempotent }) =>
      runIdempotent({ key, tool, input, given, env }, async () => this.#run()),
    )
  }

  #run(): CallResult | Promise<CallResult> {
    // Whatever is opened after the end would never be closed.
    this.call.check()
    const { budget, state } = this.options
    if (budget) this.#leaveBudget = enterBudget(budget, this.call)
    // A state is seen as it is now, and not when the handler first looks.
    if (state !== undefined) this.#open()
    return executeCall(this)
  }

  /** Starts the clock and checks the input. */
  admit(): PreparedInput | Promise<PreparedInput> {
    return acceptInput(this.definition, this.#given, this.options, this.call)
  }

  finish(answer: HandlerResult): CallResult {
    return {
      outcome: toOutcome(answer, this.#meta(answer.warnings, answer.metadata)),
      value: answer.value,
    }
  }

  report(outcome: Outcome): void | Promise<void> {
    const prepared = this.prepared as PreparedInput | undefined
    if (!this.options.unrecorded)
      return reportInvocation(
        this.definition,
        this.#given,
        prepared && { value: prepared.input },
        outcome,
        this.options,
      )
  }

  succeed(finished: CallResult): void {
    this.#leave(finished)
  }

  fail(thrown: unknown): void {
    const { error, object } = describeFailure(thrown, this.definition.errors, this.definition.name)
    this.#leave({
      outcome: { ok: false, status: 'error', error: object, meta: this.#meta([]) },
      error,
    })
  }

  #leave(finished: CallResult): void {
    this.#leaveBudget?.()
    this.#isLeft = true
    const leaving = this.openedState?.leave()
    if (leaving) void this.#leaveLater(finished, leaving)
    else this.#end(finished)
  }

  async #leaveLater(finished: CallResult, leaving: Promise<void>): Promise<void> {
    let last = finished
    try {
      await leaving
    } catch (error) {
      last = addResultWarning(
        finished,
        `${this.openedState?.isCommitted ? 'what the call had opened could not be closed' : 'not all that the call changed could be taken back'}: ${toToolError(error).message}`,
      )
    }
    this.#end(last)
  }

  #end(finished: CallResult): void {
    const telling = this.options.onEvent && !this.#isTold ? this.#tell(finished.outcome) : undefined
    // There is no point in waiting for a stuck one twice.
    if (!telling || isObserverTimeout(finished.error)) this.#answer(finished)
    else void telling.then(() => this.#answer(finished))
  }

  // An observer that fails after the end changes nothing any more.
  #tell(outcome: Outcome): Promise<void> | undefined {
    try {
      const telling = this.report(outcome)
      return telling instanceof Promise ? telling.catch(() => undefined) : undefined
    } catch {
      return undefined
    }
  }

  #answer(finished: CallResult): void {
    this.result = finished
    this.#react?.(finished)
  }

  get #isTold(): boolean {
    return this.openedState?.isCommitted === true && this.options.state !== undefined
  }

  get #tool(): string {
    const { tool, toolset } = this.#identity
    return (
      tool ?? (toolset === undefined ? this.definition.name : `${toolset}.${this.definition.name}`)
    )
  }

  #meta(warnings: readonly string[], facts?: HandlerResult['metadata']): OutcomeMeta {
    const { dryRun = false, caller } = this.options
    const prepared = this.prepared as PreparedInput | undefined
    return buildOutcomeMeta({
      truncated: facts?.truncated,
      next_cursor: facts?.next_cursor,
      run_id: facts?.run_id,
      tool: this.#tool,
      version: this.#identity.version,
      startedAt: this.#startedAt,
      dryRun: prepared?.dryRun ?? dryRun,
      warnings,
      caller,
      artifacts: this.#gathered?.artifacts ?? NO_ARTIFACTS,
    })
  }
}

const NO_ARTIFACTS: readonly Artifact[] = []

function acceptAndRun(passage: CallExecution): CallResult | Promise<CallResult> {
  return mapMaybePromise(passage.admit(), runAccepted, passage)
}

function runAccepted(
  prepared: PreparedInput,
  passage: CallExecution,
): CallResult | Promise<CallResult> {
  return passage.run(prepared)
}

function addResultWarning({ outcome, ...finished }: CallResult, warning: string): CallResult {
  return {
    ...finished,
    outcome: {
      ...outcome,
      meta: { ...outcome.meta, warnings: [...(outcome.meta.warnings ?? []), warning] },
    },
  }
}

/** A call whose input is valid. */
type ExecutableCall = PreparedCall & {
  /** What it does with its state, where it has looked at one. */
  readonly openedState: CallState | undefined
  /** Makes the outcome of an answer. */
  finish(answer: HandlerResult): CallResult
  /** Tells of an outcome. */
  report(outcome: Outcome): void | Promise<void>
}

type AdmittedExecution = AdmittedCall<ExecutableCall>

/**
 * Asks, runs the handler, checks what it answers, and commits: at once where nothing has to be
 * waited for.
 */
function executeCall(execution: ExecutableCall): CallResult | Promise<CallResult> {
  return mapMaybePromise(admitCall(execution), confirmIfNeeded)
}

function confirmIfNeeded(admitted: AdmittedExecution): CallResult | Promise<CallResult> {
  const { definition, prepared, options, call } = admitted.entering
  if (!definition.run)
    throw new ToolError(
      'PRECONDITION',
      `tool '${definition.name}' is described here but cannot be run: it has no handler`,
      { recoverable: false, suggestion: { action: 'use_different_tool', fix: 'Use another tool' } },
    )
  if (prepared.dryRun && !definition.dryRun)
    return admitted.entering.finish(
      createPlainResult({ dry_run: true, would_execute: redactInput(definition, prepared.input) }),
    )
  const consented =
    definition.annotations.destructive && !prepared.dryRun
      ? confirmDestructiveCall(definition, prepared.input, options, call)
      : undefined
  return mapMaybePromise(consented, runHandler, admitted)
}

function runHandler(
  _consented: void,
  admitted: AdmittedExecution,
): CallResult | Promise<CallResult> {
  const { definition, prepared, call } = admitted.entering
  // Nobody hears it: whatever ended the call has been told.
  call.check()
  const returned: unknown = definition.run!(prepared.input as never, admitted.context)
  return isThenable(returned)
    ? mapMaybePromise(Promise.resolve(returned), handleReturned, admitted)
    : handleReturned(returned, admitted)
}

function handleReturned(
  returned: unknown,
  admitted: AdmittedExecution,
): CallResult | Promise<CallResult> {
  return isGenerator(returned)
    ? mapMaybePromise(driveReturned(returned, admitted.entering), checkReturned, admitted)
    : checkReturned(returned, admitted)
}

function driveReturned(generator: ToolGenerator, execution: ExecutableCall): Promise<unknown> {
  const { definition, options, call } = execution
  return driveGenerator(generator, {
    emit: (event) => emitCallEvent(event, execution),
    answer: (prompt) => askInSession(definition, prompt, options, call),
    signal: call.signal,
  })
}

function checkReturned(
  returned: unknown,
  admitted: AdmittedExecution,
): CallResult | Promise<CallResult> {
  const { definition, prepared, call } = admitted.entering
  // Nobody is told of a success that came after the end.
  call.check()
  return mapMaybePromise(
    prepared.dryRun
      ? createPlainResult({ plan: admitted.entering.gathered.plan })
      : checkHandlerResult(definition, returned),
    settleAnswer,
    admitted,
  )
}

function settleAnswer(
  answer: HandlerResult,
  { entering, asked }: AdmittedExecution,
): CallResult | Promise<CallResult> {
  const { prepared, call } = entering
  call.check()
  if (!hasSucceeded(answer) || prepared.dryRun) return completeCall(answer, entering)
  return asked && hasPassedHooks(asked)
    ? notifyGuardsAndCommit(answer, entering, asked)
    : commitAnswer(answer, entering)
}

async function notifyGuardsAndCommit(
  answer: HandlerResult,
  execution: ExecutableCall,
  asked: GuardCheck,
): Promise<CallResult> {
  await notifyGuards(asked, execution.finish(answer).outcome)
  return commitAnswer(answer, execution)
}

function commitAnswer(
  answer: HandlerResult,
  execution: ExecutableCall,
): CallResult | Promise<CallResult> {
  const { openedState: opened, options } = execution
  if (!opened) return completeCall(answer, execution)
  if (!opened.endsAtOnce(options.onEvent !== undefined))
    return commitAnswerInTurn(opened, answer, execution)
  const finished = completeCall(answer, execution)
  opened.commit()
  return finished
}

function commitAnswerInTurn(
  opened: CallState,
  answer: HandlerResult,
  execution: ExecutableCall,
): CallResult | Promise<CallResult> {
  return opened.commitInTurn(
    () => completeCall(answer, execution),
    execution.options.onEvent && ((outcome) => execution.report(outcome)),
  )
}

function completeCall(answer: HandlerResult, execution: ExecutableCall): CallResult {
  execution.call.complete()
  return execution.finish(answer)
}

/**
 * Starts the clock of a call and checks its input; throws INVALID_INPUT, MISSING_PARAM or
 * INVALID_PATH.
 */
export function acceptInput(
  definition: ToolDefinition,
  given: unknown,
  options: CallOptions,
  call: RunningCall,
): PreparedInput | Promise<PreparedInput> {
  if (options.timeout !== undefined)
    call.setDeadline(toMilliseconds(options.timeout, 'timeout'), 'caller')
  if (definition.timeout !== undefined) call.setDeadline(definition.timeout, 'tool')
  return mapMaybePromise(prepareInput(definition, given, options), applyInputTimeout, call)
}

function applyInputTimeout(prepared: PreparedInput, call: RunningCall): PreparedInput {
  if (prepared.timeoutMs !== undefined) call.setDeadline(prepared.timeoutMs, 'input')
  return prepared
}

/** A call that may go on to its handler; `asked` is there where guards were asked. */
type AdmittedCall<Call extends PreparedCall = PreparedCall> = {
  readonly entering: Call
  readonly context: Context
  readonly asked: GuardCheck | undefined
}

/**
 * Builds the context and asks the tool's own `preValidate` and then the guards: all that comes
 * before consent and handler.
 */
export function admitCall<Call extends PreparedCall>(
  entering: Call,
): AdmittedCall<Call> | Promise<AdmittedCall<Call>> {
  const { context, preValidate } = entering.definition.hooks
  return context || preValidate
    ? admitByHooks(entering)
    : admitByGuards(entering, new CallContext(entering, NO_EXTRA_CONTEXT))
}

const NO_EXTRA_CONTEXT = Object.freeze({})

async function admitByHooks<Call extends PreparedCall>(
  entering: Call,
): Promise<AdmittedCall<Call>> {
  const {
    definition: { hooks },
    prepared,
  } = entering
  const input = prepared.input as never
  const context = new CallContext(entering, (await hooks.context?.(input)) ?? {})
  await hooks.preValidate?.(input, context)
  return admitByGuards(entering, context)
}

function admitByGuards<Call extends PreparedCall>(
  entering: Call,
  context: Context,
): AdmittedCall<Call> | Promise<AdmittedCall<Call>> {
  const {
    definition,
    prepared,
    options: { guards, state },
    call,
  } = entering
  // What is no list must not pass for an empty one.
  if (guards === undefined || (Array.isArray(guards) && guards.length === 0))
    return { entering, context, asked: undefined }
  const asked = {
    guards: validateGuards(guards),
    call: new GuardedCallView(definition, prepared.input, context, state !== undefined),
    running: call,
  }
  return mapMaybePromise(checkGuards(asked), returnAdmitted, { entering, context, asked })
}

function returnAdmitted<Value>(_checked: void, value: Value): Value {
  return value
}
