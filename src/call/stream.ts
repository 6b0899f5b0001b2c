import type { CallEvent } from '../contract/events.ts'
import type { CallOptions } from './options.ts'
import type { Finished } from './finished.ts'
import { onAbort } from './on-abort.ts'

/** The events of one call as they happen, then its outcome as the `result` event. A slow reader holds generator tools back; a reader that leaves cancels the call. */
export function streamCall(
  start: (options: CallOptions) => Promise<Finished>,
  options: CallOptions = {},
): AsyncIterableIterator<CallEvent> {
  const controller = new AbortController()
  const events = readEvents(start, options, controller)
  return {
    next: () => events.next(),
    return() {
      // A generator alone would wait for the next event before it leaves, and there may be none.
      controller.abort('the reader left')
      return events.return()
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

type Waiting = { readonly event: CallEvent; readonly taken: () => void }

async function* readEvents(
  start: (options: CallOptions) => Promise<Finished>,
  options: CallOptions,
  controller: AbortController,
): AsyncGenerator<CallEvent, void, void> {
  const waiting: Waiting[] = []
  let wake = (): void => undefined
  const cancel = (): void => controller.abort(options.signal?.reason)
  if (options.signal?.aborted) cancel()
  const stopListening = options.signal ? onAbort(options.signal, cancel) : undefined

  let finished: Finished | undefined
  const running = start({
    ...options,
    signal: controller.signal,
    async onEvent(event) {
      const taken =
        event.type === 'tool_invoked'
          ? undefined
          : new Promise<void>((resolve) => {
              waiting.push({ event, taken: resolve })
              wake()
            })
      await options.onEvent?.(event)
      await taken
    },
  }).then((value) => {
    finished = value
    wake()
  })

  try {
    for (;;) {
      const next = waiting.shift()
      if (next) {
        yield next.event
        next.taken()
      } else if (finished) {
        yield { type: 'result', ...finished.outcome }
        return
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  } finally {
    stopListening?.()
    for (const { taken } of waiting) taken()
    await running
  }
}
