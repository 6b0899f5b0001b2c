import { ToolError } from '../contract/tool-error.ts'
import { startDeadline } from './deadline.ts'
import type { RunningDeadline } from './deadline.ts'

/** One call while it runs: the first failure from outside (deadline, cancellation, process.exit) ends it. */
export type RunningCall = {
  signal(): AbortSignal
  deadline(): RunningDeadline | undefined
  fail(error: ToolError): void
  limitTo(milliseconds: number): void
  readonly over: boolean
}

/** Runs `work` until it settles or is failed from outside; later results and rejections reach nobody. */
export function runCall<T>(outer: AbortSignal | undefined, work: (call: RunningCall) => Promise<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let controller: AbortController | undefined
    let failure: ToolError | undefined
    let deadline: RunningDeadline | undefined
    let over = false

    const cancel = (): void => call.fail(cancelled(outer?.reason))
    const settle = (): void => {
      over = true
      deadline?.clear()
      outer?.removeEventListener('abort', cancel)
    }
    const call: RunningCall = {
      // Made on demand, because most handlers never look at it.
      signal() {
        controller ??= new AbortController()
        if (failure) controller.abort(failure)
        return controller.signal
      },
      deadline: () => deadline,
      fail(error) {
        if (over) return
        failure = error
        settle()
        reject(error)
        controller?.abort(error)
      },
      limitTo(milliseconds) {
        deadline = startDeadline(milliseconds, () => call.fail(new ToolError('TIMEOUT', `the call took longer than ${milliseconds / 1000} seconds`, { suggestion: { action: 'retry_with_modified_input', fix: 'Allow more time or ask for less' } })))
      },
      get over() { return over },
    }

    if (outer?.aborted) return cancel()
    outer?.addEventListener('abort', cancel, { once: true })
    work(call).then(
      (value) => { settle(); resolve(value) },
      (error: unknown) => { settle(); reject(error) },
    )
  })
}

function cancelled(reason: unknown): ToolError {
  if (ToolError.is(reason)) return reason
  const words = typeof reason === 'string' ? reason : reason instanceof Error && reason.name !== 'AbortError' ? reason.message : ''
  return new ToolError('CANCELLED', words ? `the call was cancelled: ${words}` : 'the call was cancelled')
}
