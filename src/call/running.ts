import { ToolError } from '../contract/tool-error.ts'
import type { Cancellation } from './cancellation.ts'
import { startDeadline } from './deadline.ts'
import type { RunningDeadline } from './deadline.ts'
import { onAbort } from './on-abort.ts'

/** Whose limit a deadline is, because only its owner can allow more: the caller's, that of the input, or the tool's own. */
export type LimitOwner = 'caller' | 'input' | 'tool'

/** One call while it runs: the first failure from outside (deadline, cancellation, process.exit) ends it. A class, because the hidden class of a literal with getters is made anew for each call. */
export class RunningCall {
  /** It has ended, whichever way. */
  over = false
  #controller: AbortController | undefined
  #asking: AbortController | undefined
  #failure: ToolError | undefined
  #deadline: RunningDeadline | undefined
  #reactions: Set<(error: ToolError) => void> | undefined
  #stopListening: (() => void) | undefined
  readonly #reject: (error: ToolError) => void

  /** `reject` is told of a failure from outside; `outer` may be one of them, and may have come already. */
  constructor(reject: (error: ToolError) => void, outer: AbortSignal | Cancellation | undefined) {
    this.#reject = reject
    if (!outer) return
    const cancel = (): void => this.fail(cancelled(outer.reason))
    if (outer.aborted) cancel()
    else this.#stopListening = onAbort(outer, cancel)
  }

  // Made on demand, because most handlers never look at it.
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#failure) this.#controller.abort(this.#failure)
    return this.#controller.signal
  }

  /** For those who are asked: aborted as soon as the call is over, however it ended, because nobody waits for their answer any more. */
  get asking(): AbortSignal {
    this.#asking ??= new AbortController()
    if (this.over) this.#asking.abort(this.#failure ?? isOver())
    return this.#asking.signal
  }

  get deadline(): RunningDeadline | undefined {
    return this.#deadline
  }

  fail(error: ToolError): void {
    if (this.over) return
    this.#failure = error
    this.end()
    this.#reject(error)
    this.#controller?.abort(error)
    for (const react of this.#reactions ?? []) react(error)
  }

  /** Tells of a failure from outside, at once where there was one; gives the function that stops it. */
  onFail(react: (error: ToolError) => void): () => void {
    if (this.#failure) react(this.#failure)
    const listening = (this.#reactions ??= new Set())
    listening.add(react)
    return () => void listening.delete(react)
  }

  /** Sets a deadline; of several the earliest counts. `by` says whose it is, or what to tell. */
  limitTo(milliseconds: number, by: LimitOwner | (() => ToolError)): void {
    if (this.over || (this.#deadline && this.#deadline.remaining() * 1000 <= milliseconds)) return
    this.#deadline?.clear()
    this.#deadline = startDeadline(milliseconds, () => this.fail(typeof by === 'function' ? by() : timedOut(milliseconds, by)))
  }

  /** Waits for somebody, with the deadline standing still; ends with the call, whatever the other side does. */
  async wait<Answer>(ask: () => Answer | Promise<Answer>): Promise<Answer> {
    if (this.over) throw this.#failure ?? isOver()
    const paused = this.#deadline
    paused?.pause()
    try {
      return await untilAborted(this.signal, ask)
    } catch (error) {
      // The handler has ended without this answer: to throw now would be a rejection that nobody handles.
      if (this.over && !this.#failure) return await new Promise<never>(() => undefined)
      throw error
    } finally {
      paused?.resume()
    }
  }

  /** From here on nothing from outside can fail the call. Throws when something already has. */
  complete(): void {
    if (this.over) throw this.#failure ?? isOver()
    this.end()
  }

  /** It is over, whether it came to a result or not. */
  end(): void {
    this.over = true
    this.#deadline?.clear()
    this.#stopListening?.()
    this.#asking?.abort(this.#failure ?? isOver())
  }
}

/** Runs `work` until it settles or is failed from outside, and tells one of the two; later results and rejections reach nobody. */
export function startCall<T>(outer: AbortSignal | Cancellation | undefined, work: (call: RunningCall) => T | Promise<T>, resolve: (value: T) => void, reject: (error: unknown) => void): void {
  let isSettled = false
  const settle = (): boolean => {
    const isFirst = !isSettled
    isSettled = true
    return isFirst
  }
  // It may have been cancelled before it began.
  const call = new RunningCall((error) => { if (settle()) reject(error) }, outer)
  if (call.over) return
  const succeed = (value: T): void => {
    if (!settle()) return
    call.end()
    resolve(value)
  }
  const fail = (error: unknown): void => {
    if (!settle()) return
    call.end()
    reject(error)
  }
  let working: T | Promise<T>
  try {
    working = work(call)
  } catch (error) {
    return fail(error)
  }
  if (working instanceof Promise) void working.then(succeed, fail)
  else succeed(working)
}

/** The same as a promise. */
export function runCall<T>(outer: AbortSignal | Cancellation | undefined, work: (call: RunningCall) => T | Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => startCall(outer, work, resolve, reject))
}

/** Waits for `work`, but not longer than until the signal aborts; then throws its reason. */
export function untilAborted<T>(signal: AbortSignal, work: () => T | Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) return abort()
    const stopListening = onAbort(signal, abort)
    void (async () => work())().then(resolve, reject).finally(stopListening)
  })
}

/** The error of a call that was cancelled for some reason: TIMEOUT for that of `AbortSignal.timeout`, else CANCELLED. */
export function cancelled(reason: unknown): ToolError {
  if (reason instanceof ToolError) return reason
  const error = reason instanceof Error ? reason : undefined
  // What AbortSignal.timeout() aborts with.
  if (error?.name === 'TimeoutError') return new ToolError('TIMEOUT', 'the caller gave the call no more time', { cause: reason })
  const words = typeof reason === 'string' ? reason : error && error.name !== 'AbortError' ? error.message : ''
  return new ToolError('CANCELLED', words ? `the call was cancelled: ${words}` : 'the call was cancelled', { cause: reason })
}

function timedOut(milliseconds: number, by: LimitOwner): ToolError {
  return new ToolError('TIMEOUT', `the call took longer than ${milliseconds / 1000} seconds`, {
    details: { limit_s: milliseconds / 1000, limited_by: by },
    suggestion: { action: 'retry_with_modified_input', fix: by === 'tool' ? 'Ask for less: the tool allows itself no more time' : 'Allow more time or ask for less' },
  })
}

function isOver(): ToolError {
  return new ToolError('CANCELLED', 'the call is over')
}
