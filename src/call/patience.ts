import { ToolError } from '../contract/tool-error.ts'

// Longer than others on the same state wait for their turn to commit: a listener that waits for one of them is free when that one gives up.
const PATIENCE_MS = 60_000

class OutOfPatience extends ToolError {}

/** Waits for a listener, but not for ever: throws TIMEOUT after a minute. What it says later reaches nobody. */
export function withPatience(listening: unknown): void | Promise<void> {
  if (typeof (listening as PromiseLike<unknown> | null | undefined)?.then !== 'function') return
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(tooLong()), PATIENCE_MS)
    const heard = (): void => {
      clearTimeout(timer)
      resolve()
    }
    const failed = (error: unknown): void => {
      clearTimeout(timer)
      reject(error)
    }
    ;(listening as PromiseLike<unknown>).then(heard, failed)
  })
}

/** Whether a call failed because its listener took no end: there is no point in waiting for it once more. */
export function isOutOfPatience(error: unknown): boolean {
  return error instanceof OutOfPatience
}

function tooLong(): ToolError {
  return new OutOfPatience(
    'TIMEOUT',
    `onEvent did not come to an end with the record of the call in ${PATIENCE_MS / 1000} seconds, so what the call did was taken back`,
    {
      suggestion: {
        action: 'abort',
        fix: 'The host should see that the promise of onEvent settles',
      },
    },
  )
}
