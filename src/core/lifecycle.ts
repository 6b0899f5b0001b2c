/**
 * A running call: its deadline, its cancellation and its end. The first failure from outside
 * (deadline, cancellation, process.exit) ends the call.
 */

import type { Deadline, ReadingContext } from '../protocol/context.ts'
import { MAX_TIMER_MS } from '../protocol/limits.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { CancelSignal } from './call.ts'
import { trackBackground } from './call.ts'
import { host } from './host.ts'

/**
 * Whose limit a deadline is, because only its owner can allow more: the caller's, that of the
 * input, or the tool's own.
 */
type DeadlineOwner = 'caller' | 'input' | 'tool'

/**
 * One call while it runs: the first failure from outside (deadline, cancellation, process.exit)
 * ends it. A class, because V8 creates a new hidden class for each literal with getters.
 */
export class RunningCall {
  /** It has ended, with or without a result. */
  isOver = false
  /** Its pending work. */
  working: Promise<unknown> | undefined
  #controller: AbortController | undefined
  #asking: AbortController | undefined
  #failure: ToolError | undefined
  #deadline: PausableDeadline | undefined
  #reactions: Set<(error: ToolError) => void> | undefined
  #stopListening: (() => void) | undefined
  readonly #task: Pick<CallTask<never>, 'fail'>

  /** Reports failures from outside to `task`. `outer` may cancel the call, or already has. */
  constructor(task: Pick<CallTask<never>, 'fail'>, outer: CancelSignal | undefined) {
    this.#task = task
    if (outer) this.#listenTo(outer)
  }

  #listenTo(outer: CancelSignal): void {
    const cancel = (): void => this.fail(toCancelledError(outer.reason))
    if (outer.aborted) cancel()
    else this.#stopListening = onAbort(outer, cancel)
  }

  /** Something from outside has ended it. */
  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  // Created on demand, because most handlers never use it.
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#failure) this.#controller.abort(this.#failure)
    return this.#controller.signal
  }

  /** For answerers: aborted when the call ends in any way, because the answer has no use then. */
  get questionSignal(): AbortSignal {
    this.#asking ??= new AbortController()
    if (this.isOver) this.#asking.abort(this.#failure ?? createCallOverError())
    return this.#asking.signal
  }

  get deadline(): PausableDeadline | undefined {
    return this.#deadline
  }

  fail(error: ToolError): void {
    if (this.isOver) return
    this.#failure = error
    if (this.working) trackBackground(this.working)
    this.end()
    this.#task.fail(error)
    this.#controller?.abort(error)
    for (const react of this.#reactions ?? []) react(error)
  }

  /** Calls `react` on a failure from outside, or now if there was one; returns a stop function. */
  onFail(react: (error: ToolError) => void): () => void {
    if (this.#failure) react(this.#failure)
    const listening = (this.#reactions ??= new Set())
    listening.add(react)
    return () => void listening.delete(react)
  }

  /** Sets a deadline; the earliest of several counts. `by` is its owner, or creates the error. */
  setDeadline(milliseconds: number, by: DeadlineOwner | (() => ToolError)): void {
    if (this.isOver || (this.#deadline && this.#deadline.remaining() * 1000 <= milliseconds)) return
    this.#deadline?.clear()
    this.#deadline = startDeadline(milliseconds, () =>
      this.fail(typeof by === 'function' ? by() : createTimeoutError(milliseconds, by)),
    )
  }

  /** Waits for an answer with the deadline paused. Ends with the call at the latest. */
  async pauseDeadline<Answer>(ask: () => Answer | Promise<Answer>): Promise<Answer> {
    this.check()
    const paused = this.#deadline
    paused?.pause()
    try {
      return await runUntilAborted(this.signal, ask)
    } catch (error) {
      // The handler has ended without this answer: throwing now would be an unhandled rejection.
      if (this.isOver && !this.#failure) return await new Promise<never>(() => undefined)
      throw error
    } finally {
      paused?.resume()
    }
  }

  /** Throws when it is over. */
  check(): void {
    if (this.isOver) throw this.#failure ?? createCallOverError()
  }

  /** From here on nothing from outside can fail the call. Throws when something already has. */
  complete(): void {
    this.check()
    this.end()
  }

  /** It is over, whether it came to a result or not. */
  end(): void {
    this.isOver = true
    this.#deadline?.clear()
    this.#stopListening?.()
    this.#asking?.abort(this.#failure ?? createCallOverError())
  }
}

/** The work of a call and what happens with its result: `succeed` or `fail` is called, once. */
export type CallTask<T> = {
  work(call: RunningCall): T | Promise<T>
  succeed(value: T): void
  fail(error: unknown): void
}

/** Runs a task until it settles or fails from outside. Later results and errors are ignored. */
export function startCall<T>(outer: CancelSignal | undefined, task: CallTask<T>): void {
  const call = new RunningCall(task, outer)
  // It may have been cancelled before it started.
  if (call.isOver) return
  let working: T | Promise<T>
  try {
    working = task.work(call)
  } catch (error) {
    return failCall(error, call, task)
  }
  if (working instanceof Promise) followWork(working, call, task)
  else succeedCall(working, call, task)
}

function followWork<T>(working: Promise<T>, call: RunningCall, task: CallTask<T>): void {
  call.working = working
  void working.then(
    (value) => succeedCall(value, call, task),
    (error: unknown) => failCall(error, call, task),
  )
}

function succeedCall<T>(value: T, call: RunningCall, task: CallTask<T>): void {
  if (call.hasFailed) return
  call.end()
  task.succeed(value)
}

function failCall<T>(error: unknown, call: RunningCall, task: CallTask<T>): void {
  if (call.hasFailed) return
  call.end()
  task.fail(error)
}

/** The same as a promise. */
export function runCall<T>(
  outer: CancelSignal | undefined,
  work: (call: RunningCall) => T | Promise<T>,
): Promise<T> {
  return new Promise<T>((succeed, fail) => startCall(outer, { work, succeed, fail }))
}

/** Waits for `work`, but not longer than until the signal aborts; then throws its reason. */
export function runUntilAborted<T>(signal: CancelSignal, work: () => T | Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) return abort()
    const stopListening = onAbort(signal, abort)
    void (async () => work())().then(resolve, reject).finally(stopListening)
  })
}

/**
 * The error of a call that was cancelled for some reason: TIMEOUT for that of
 * `AbortSignal.timeout`, else CANCELLED.
 */
export function toCancelledError(reason: unknown): ToolError {
  if (reason instanceof ToolError) return reason
  const { name, message } = reason instanceof Error ? reason : { name: '', message: reason }
  // What AbortSignal.timeout() aborts with.
  if (name === 'TimeoutError')
    return new ToolError('TIMEOUT', 'the caller gave the call no more time', { cause: reason })
  const isExplained = typeof message === 'string' && message !== '' && name !== 'AbortError'
  const details = isExplained ? `: ${message}` : ''
  return new ToolError('CANCELLED', `the call was cancelled${details}`, { cause: reason })
}

function createTimeoutError(milliseconds: number, by: DeadlineOwner): ToolError {
  const seconds = milliseconds / 1000
  const fix =
    by === 'tool'
      ? 'Ask for less: the tool allows itself no more time'
      : 'Allow more time or ask for less'
  return new ToolError('TIMEOUT', `the call took longer than ${seconds} seconds`, {
    details: { limit_s: seconds, limited_by: by },
    suggestion: { action: 'retry_with_modified_input', fix },
  })
}

function createCallOverError(): ToolError {
  return new ToolError('CANCELLED', 'the call is over')
}

/** A deadline that is paused while a question is open. */
type PausableDeadline = Deadline & { pause(): void; resume(): void; clear(): void }

/** Starts a deadline in milliseconds from now, on the monotonic clock. */
function startDeadline(milliseconds: number, expire: () => void): PausableDeadline {
  let left = milliseconds
  let startedAt = host.clock()
  let pauses = 0
  let cleared = false
  let timer = arm()

  function arm(): NodeJS.Timeout {
    startedAt = host.clock()
    return setTimeout(expire, Math.min(left, MAX_TIMER_MS))
  }
  const leftNow = (): number => Math.max(0, pauses > 0 ? left : left - (host.clock() - startedAt))

  return {
    get at() {
      return new Date(Date.now() + leftNow())
    },
    remaining: () => leftNow() / 1000,
    pause() {
      if (pauses++ > 0) return
      clearTimeout(timer)
      left = Math.max(0, left - (host.clock() - startedAt))
    },
    resume() {
      // An answer may arrive after the end of the call.
      if (--pauses === 0 && !cleared) timer = arm()
    },
    clear() {
      cleared = true
      clearTimeout(timer)
    },
  }
}

/** Where a context keeps its call, which reports its end without an AbortSignal. */
export const runningCall: unique symbol = Symbol('toolable.running')

type WithRunningCall = { readonly [runningCall]?: RunningCall }

/**
 * Calls `react` when the call of a context is cancelled or times out, or now if it already was;
 * returns a stop function. Cheaper than `ctx.signal`, for internal handlers that are called often.
 */
export function onCancelled(
  ctx: Pick<ReadingContext, 'signal'>,
  react: (reason: ToolError) => void,
): () => void {
  const call = (ctx as WithRunningCall)[runningCall]
  if (call) return call.onFail(react)
  const { signal } = ctx
  const tell = (): void => react(toCancelledError(signal.reason))
  if (!signal.aborted) return onAbort(signal, tell)
  tell()
  return () => undefined
}

type AbortReactions = {
  readonly reactions: Set<{ readonly react: () => void }>
  readonly listener: () => void
}

const reactionsBySignal = new WeakMap<AbortSignal, AbortReactions>()

/**
 * Calls `react` when the signal aborts; returns a stop function. A signal has at most one listener
 * of this package, because Node warns about more than ten.
 */
export function onAbort(signal: CancelSignal, react: () => void): () => void {
  // Recognized by its shape: a server may use another copy of this package.
  if ('onCancel' in signal) return signal.onCancel(react)
  const { reactions } = reactionsBySignal.get(signal) ?? listenToSignal(signal)
  const reaction = { react }
  reactions.add(reaction)
  return () => {
    reactions.delete(reaction)
    if (reactions.size === 0) stopListeningTo(signal)
  }
}

function listenToSignal(signal: AbortSignal): AbortReactions {
  const reactions: AbortReactions['reactions'] = new Set()
  const listener = (): void => {
    stopListeningTo(signal)
    for (const { react } of [...reactions]) react()
  }
  const listening = { reactions, listener }
  reactionsBySignal.set(signal, listening)
  signal.addEventListener('abort', listener, { once: true })
  return listening
}

function stopListeningTo(signal: AbortSignal): void {
  const listening = reactionsBySignal.get(signal)
  if (!listening) return
  signal.removeEventListener('abort', listening.listener)
  reactionsBySignal.delete(signal)
}

type MaybePromiseStep<Value, Own, Next> = (value: Value, own: Own) => Next | Promise<Next>

/**
 * Continues with a value: synchronously, or when its promise resolves. A promise costs more than
 * most of the work of a call. `own` is passed to `next`, which can be one function for all calls.
 */
export function mapMaybePromise<Value, Next>(
  value: Value | Promise<Value>,
  next: (value: Value) => Next | Promise<Next>,
): Next | Promise<Next>
export function mapMaybePromise<Value, Own, Next>(
  value: Value | Promise<Value>,
  next: MaybePromiseStep<Value, Own, Next>,
  own: Own,
): Next | Promise<Next>
export function mapMaybePromise<Value, Own, Next>(
  value: Value | Promise<Value>,
  next: MaybePromiseStep<Value, Own | undefined, Next>,
  own?: Own,
): Next | Promise<Next> {
  return value instanceof Promise ? mapPromise(value, next, own) : next(value, own)
}

// Separate, because a function that contains a closure pays for it in every call.
function mapPromise<Value, Own, Next>(
  value: Promise<Value>,
  next: MaybePromiseStep<Value, Own, Next>,
  own: Own,
): Promise<Next> {
  return value.then((there) => next(there, own))
}

/** True for promises, including those of other libraries. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
