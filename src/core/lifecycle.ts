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
 * ends it. A class, because the hidden class of a literal with getters is made anew for each call.
 */
export class RunningCall {
  /** It has ended, whichever way. */
  isOver = false
  /** What it does, where that takes time. */
  working: Promise<unknown> | undefined
  #controller: AbortController | undefined
  #asking: AbortController | undefined
  #failure: ToolError | undefined
  #deadline: PausableDeadline | undefined
  #reactions: Set<(error: ToolError) => void> | undefined
  #stopListening: (() => void) | undefined
  readonly #course: Pick<CallTask<never>, 'fail'>

  /**
   * `course` is told of a failure from outside; `outer` may be one of them, and may have come
   * already.
   */
  constructor(course: Pick<CallTask<never>, 'fail'>, outer: CancelSignal | undefined) {
    this.#course = course
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

  // Made on demand, because most handlers never look at it.
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#failure) this.#controller.abort(this.#failure)
    return this.#controller.signal
  }

  /**
   * For those who are asked: aborted as soon as the call is over, however it ended, because nobody
   * waits for their answer any more.
   */
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
    this.#course.fail(error)
    this.#controller?.abort(error)
    for (const react of this.#reactions ?? []) react(error)
  }

  /**
   * Tells of a failure from outside, at once where there was one; gives the function that stops it.
   */
  onFail(react: (error: ToolError) => void): () => void {
    if (this.#failure) react(this.#failure)
    const listening = (this.#reactions ??= new Set())
    listening.add(react)
    return () => void listening.delete(react)
  }

  /** Sets a deadline; of several the earliest counts. `by` says whose it is, or what to tell. */
  setDeadline(milliseconds: number, by: DeadlineOwner | (() => ToolError)): void {
    if (this.isOver || (this.#deadline && this.#deadline.remaining() * 1000 <= milliseconds)) return
    this.#deadline?.clear()
    this.#deadline = startDeadline(milliseconds, () =>
      this.fail(typeof by === 'function' ? by() : createTimeoutError(milliseconds, by)),
    )
  }

  /**
   * Waits for somebody, with the deadline standing still; ends with the call, whatever the other
   * side does.
   */
  async pauseDeadline<Answer>(ask: () => Answer | Promise<Answer>): Promise<Answer> {
    this.check()
    const paused = this.#deadline
    paused?.pause()
    try {
      return await runUntilAborted(this.signal, ask)
    } catch (error) {
      // The handler has ended without this answer: to throw now would be a rejection that nobody
      // handles.
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

/** What a call does, and what happens with what it came to: `succeed` or `fail` is called, once. */
export type CallTask<T> = {
  work(call: RunningCall): T | Promise<T>
  succeed(value: T): void
  fail(error: unknown): void
}

/**
 * Works until it settles or is failed from outside, and tells one of the two; later results and
 * rejections reach nobody.
 */
export function startCall<T>(outer: CancelSignal | undefined, course: CallTask<T>): void {
  const call = new RunningCall(course, outer)
  // It may have been cancelled before it began.
  if (call.isOver) return
  let working: T | Promise<T>
  try {
    working = course.work(call)
  } catch (error) {
    return failCall(error, call, course)
  }
  if (working instanceof Promise) followWork(working, call, course)
  else succeedCall(working, call, course)
}

function followWork<T>(working: Promise<T>, call: RunningCall, course: CallTask<T>): void {
  call.working = working
  void working.then(
    (value) => succeedCall(value, call, course),
    (error: unknown) => failCall(error, call, course),
  )
}

function succeedCall<T>(value: T, call: RunningCall, course: CallTask<T>): void {
  if (call.hasFailed) return
  call.end()
  course.succeed(value)
}

function failCall<T>(error: unknown, call: RunningCall, course: CallTask<T>): void {
  if (call.hasFailed) return
  call.end()
  course.fail(error)
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

/** A limit that fires by timer, and stands still while somebody is asked. */
type PausableDeadline = Deadline & { pause(): void; resume(): void; clear(): void }

/** Starts a deadline of so many milliseconds from now, on the monotonic clock. */
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
      // Whoever waited may come back after the end of the call.
      if (--pauses === 0 && !cleared) timer = arm()
    },
    clear() {
      cleared = true
      clearTimeout(timer)
    },
  }
}

/** Where a context keeps its call, which tells of its end without the cost of an AbortSignal. */
export const runningCall: unique symbol = Symbol('toolable.running')

type WithRunningCall = { readonly [runningCall]?: RunningCall }

/**
 * Calls `react` when the call of a context is cancelled or its time is up, at once where it is
 * already; gives the function that stops it. Cheaper than `ctx.signal`, for handlers of ours that
 * are called often.
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
 * Calls `react` when the signal aborts; gives the function that stops it. However many wait, a
 * signal has one listener of ours, and none when nobody waits: more than ten would be a warning.
 */
export function onAbort(signal: CancelSignal, react: () => void): () => void {
  // Told by its form: a server may be of another copy of this package.
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
 * Goes on with a value: at once where it is there, later where it is promised. Each promise costs a
 * call more than most of its work.
 * `own` is what `next` needs besides: handed on like this, it can be the same function for every
 * call.
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

// Apart, because a function that holds another one pays for it in every call.
function mapPromise<Value, Own, Next>(
  value: Promise<Value>,
  next: MaybePromiseStep<Value, Own, Next>,
  own: Own,
): Promise<Next> {
  return value.then((there) => next(there, own))
}

/** Whether it has to be waited for, also when it is the promise of another library. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
