import { ToolError } from '../contract/tool-error.ts'
import type { Cancellation } from './cancellation.ts'
import { startDeadline } from './deadline.ts'
import type { RunningDeadline } from './deadline.ts'
import { onAbort } from './on-abort.ts'

/** One call while it runs: the first failure from outside (deadline, cancellation, process.exit) ends it. */
export type RunningCall = {
  signal(): AbortSignal
  /** For those who are asked: aborted as soon as the call is over, however it ended, because nobody waits for their answer any more. */
  asking(): AbortSignal
  deadline(): RunningDeadline | undefined
  fail(error: ToolError): void
  /** Tells of a failure from outside, at once where there was one; gives the function that stops it. */
  onFail(react: (error: ToolError) => void): () => void
  /** Sets a deadline; of several the earliest counts. */
  limitTo(milliseconds: number): void
  /** Waits for somebody, with the deadline standing still; ends with the call, whatever the other side does. */
  wait<T>(work: () => T | Promise<T>): Promise<T>
  /** From here on nothing from outside can fail the call. Throws when something already has. */
  complete(): void
  readonly over: boolean
}

/** Runs `work` until it settles or is failed from outside; later results and rejections reach nobody. */
export function runCall<T>(outer: AbortSignal | Cancellation | undefined, work: (call: RunningCall) => Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let controller: AbortController | undefined
    let asking: AbortController | undefined
    let failure: ToolError | undefined
    let deadline: RunningDeadline | undefined
    let over = false
    let reactions: Set<(error: ToolError) => void> | undefined
    let stopListening = (): void => undefined

    const cancel = (): void => call.fail(cancelled(outer?.reason))
    const settle = (): void => {
      over = true
      deadline?.clear()
      stopListening()
      asking?.abort(failure ?? isOver())
    }
    const call: RunningCall = {
      // Made on demand, because most handlers never look at it.
      signal() {
        controller ??= new AbortController()
        if (failure) controller.abort(failure)
        return controller.signal
      },
      asking() {
        asking ??= new AbortController()
        if (over) asking.abort(failure ?? isOver())
        return asking.signal
      },
      deadline: () => deadline,
      fail(error) {
        if (over) return
        failure = error
        settle()
        reject(error)
        controller?.abort(error)
        for (const react of reactions ?? []) react(error)
      },
      onFail(react) {
        if (failure) react(failure)
        const listening = (reactions ??= new Set())
        listening.add(react)
        return () => void listening.delete(react)
      },
      limitTo(milliseconds) {
        if (over || (deadline && deadline.remaining() * 1000 <= milliseconds)) return
        deadline?.clear()
        deadline = startDeadline(milliseconds, () => call.fail(timedOut(milliseconds)))
      },
      async wait<Answer>(ask: () => Answer | Promise<Answer>): Promise<Answer> {
        if (over) throw failure ?? isOver()
        const paused = deadline
        paused?.pause()
        try {
          return await untilAborted(call.signal(), ask)
        } catch (error) {
          // The handler has ended without this answer: to throw now would be a rejection that nobody handles.
          if (over && !failure) return await new Promise<never>(() => undefined)
          throw error
        } finally {
          paused?.resume()
        }
      },
      complete() {
        if (over) throw failure ?? isOver()
        settle()
      },
      get over() { return over },
    }

    if (outer?.aborted) return cancel()
    if (outer) stopListening = onAbort(outer, cancel)
    void (async () => work(call))().then(
      (value) => { settle(); resolve(value) },
      (error: unknown) => { settle(); reject(error) },
    )
  })
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

function timedOut(milliseconds: number): ToolError {
  return new ToolError('TIMEOUT', `the call took longer than ${milliseconds / 1000} seconds`, { suggestion: { action: 'retry_with_modified_input', fix: 'Allow more time or ask for less' } })
}

function isOver(): ToolError {
  return new ToolError('CANCELLED', 'the call is over')
}
