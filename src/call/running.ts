import { ToolError } from '../contract/tool-error.ts'
import type { Stopping } from './cancellation.ts'
import { startDeadline } from './deadline.ts'
import type { RunningDeadline } from './deadline.ts'
import { leaveBehind } from './left-behind.ts'
import { onAbort } from './on-abort.ts'

/** Whose limit a deadline is, because only its owner can allow more: the caller's, that of the input, or the tool's own. */
export type LimitOwner = 'caller' | 'input' | 'tool'

/** One call while it runs: the first failure from outside (deadline, cancellation, process.exit) ends it. A class, because the hidden class of a literal with getters is made anew for each call. */
export class RunningCall {
  /** It has ended, whichever way. */
  over = false
  /** What it does, where that takes time. */
  working: Promise<unknown> | undefined
  #controller: AbortController | undefined
  #asking: AbortController | undefined
  #failure: ToolError | undefined
  #deadline: RunningDeadline | undefined
  #reactions: Set<(error: ToolError) => void> | undefined
  #stopListening: (() => void) | undefined
  readonly #course: Pick<Course<never>, 'fail'>

  /** `course` is told of a failure from outside; `outer` may be one of them, and may have come already. */
  constructor(course: Pick<Course<never>, 'fail'>, outer: Stopping | undefined) {
    this.#course = course
    if (outer) this.#listenTo(outer)
  }

  #listenTo(outer: Stopping): void {
    const cancel = (): void => this.fail(cancelled(outer.reason))
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
    if (this.working) leaveBehind(this.working)
    this.end()
    this.#course.fail(error)
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
    this.#deadline = startDeadline(milliseconds, () =>
      this.fail(typeof by === 'function' ? by() : timedOut(milliseconds, by)),
    )
  }

  /** Waits for somebody, with the deadline standing still; ends with the call, whatever the other side does. */
  async wait<Answer>(ask: () => Answer | Promise<Answer>): Promise<Answer> {
    this.check()
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

  /** Throws when it is over. */
  check(): void {
    if (this.over) throw this.#failure ?? isOver()
  }

  /** From here on nothing from outside can fail the call. Throws when something already has. */
  complete(): void {
    this.check()
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

/** What a call does, and what happens with what it came to: `succeed` or `fail` is called, once. */
export type Course<T> = {
  work(call: RunningCall): T | Promise<T>
  succeed(value: T): void
  fail(error: unknown): void
}

/** Works until it settles or is failed from outside, and tells one of the two; later results and rejections reach nobody. */
export function startCall<T>(outer: Stopping | undefined, course: Course<T>): void {
  const call = new RunningCall(course, outer)
  // It may have been cancelled before it began.
  if (call.over) return
  let working: T | Promise<T>
  try {
    working = course.work(call)
  } catch (error) {
    return fail(error, call, course)
  }
  if (working instanceof Promise) follow(working, call, course)
  else succeed(working, call, course)
}

function follow<T>(working: Promise<T>, call: RunningCall, course: Course<T>): void {
  call.working = working
  void working.then(
    (value) => succeed(value, call, course),
    (error: unknown) => fail(error, call, course),
  )
}

function succeed<T>(value: T, call: RunningCall, course: Course<T>): void {
  if (call.hasFailed) return
  call.end()
  course.succeed(value)
}

function fail<T>(error: unknown, call: RunningCall, course: Course<T>): void {
  if (call.hasFailed) return
  call.end()
  course.fail(error)
}

/** The same as a promise. */
export function runCall<T>(
  outer: Stopping | undefined,
  work: (call: RunningCall) => T | Promise<T>,
): Promise<T> {
  return new Promise<T>((succeed, fail) => startCall(outer, { work, succeed, fail }))
}

/** Waits for `work`, but not longer than until the signal aborts; then throws its reason. */
export function untilAborted<T>(signal: Stopping, work: () => T | Promise<T>): Promise<T> {
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
  if (error?.name === 'TimeoutError')
    return new ToolError('TIMEOUT', 'the caller gave the call no more time', { cause: reason })
  const words =
    typeof reason === 'string' ? reason : error && error.name !== 'AbortError' ? error.message : ''
  return new ToolError(
    'CANCELLED',
    words ? `the call was cancelled: ${words}` : 'the call was cancelled',
    { cause: reason },
  )
}

function timedOut(milliseconds: number, by: LimitOwner): ToolError {
  return new ToolError('TIMEOUT', `the call took longer than ${milliseconds / 1000} seconds`, {
    details: { limit_s: milliseconds / 1000, limited_by: by },
    suggestion: {
      action: 'retry_with_modified_input',
      fix:
        by === 'tool'
          ? 'Ask for less: the tool allows itself no more time'
          : 'Allow more time or ask for less',
    },
  })
}

function isOver(): ToolError {
  return new ToolError('CANCELLED', 'the call is over')
}
