import type { CallEvent } from '../contract/events.ts'
import type { CallOptions } from './options.ts'
import type { Finished } from './finished.ts'

/** The events of one call as they happen, then its outcome as the `result` event. A slow reader holds generator tools back; a reader that leaves cancels the call. */
export async function* streamCall(start: (options: CallOptions) => Promise<Finished>, options: CallOptions = {}): AsyncGenerator<CallEvent, void, void> {
  const waiting: CallEvent[] = []
  let wake = (): void => undefined
  let taken = (): void => undefined
  const controller = new AbortController()
  const cancel = (): void => controller.abort(options.signal?.reason)
  if (options.signal?.aborted) cancel()
  options.signal?.addEventListener('abort', cancel, { once: true })

  let finished: Finished | undefined
  const running = start({
    ...options,
    signal: controller.signal,
    async onEvent(event) {
      await options.onEvent?.(event)
      if (event.type === 'tool_invoked') return
      waiting.push(event)
      wake()
      await new Promise<void>((resolve) => { taken = resolve })
    },
  }).then((value) => {
    finished = value
    wake()
  })

  try {
    for (;;) {
      const event = waiting.shift()
      if (event) {
        yield event
        if (waiting.length === 0) taken()
      } else if (finished) {
        yield { type: 'result', ...finished.outcome }
        return
      } else {
        await new Promise<void>((resolve) => { wake = resolve })
      }
    }
  } finally {
    options.signal?.removeEventListener('abort', cancel)
    if (!finished) controller.abort('the reader left')
    taken()
    await running
  }
}
