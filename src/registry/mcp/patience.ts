import { ToolError } from '../../contract/tool-error.ts'
import type { Asker } from './asker.ts'

const LONGEST_SILENCE = 10 * 60_000

/** A call that waits for its server. */
export type Patience = {
  /** Aborted with the call, or when the server gave no sign of life for ten minutes. */
  readonly signal: AbortSignal
  /** The call's own asker; while somebody is asked, silence of the server does not count. */
  readonly asker: Asker
  /** Tells of a sign of life. */
  alive(): void
  /** Why somebody who was asked did not answer: the true cause of what the server may say then. */
  refusal(): ToolError | undefined
  end(): void
}

/** Begins to wait. */
export function waitFor(asker: Asker): Patience {
  const controller = new AbortController()
  const giveUp = (): void =>
    controller.abort(
      new ToolError(
        'TIMEOUT',
        `the server gave no sign of life for ${LONGEST_SILENCE / 60_000} minutes`,
        {
          suggestion: "Give the server a 'callTimeout' in its configuration, or the call a timeout",
        },
      ),
    )
  const stop = (): void => controller.abort(asker.signal.reason)
  let refusal: ToolError | undefined
  let timer = setTimeout(giveUp, LONGEST_SILENCE)
  const alive = (): void => void timer.refresh()
  const pausing = async <R>(ask: () => Promise<R>): Promise<R> => {
    clearTimeout(timer)
    try {
      return await ask()
    } catch (error) {
      if (ToolError.is(error)) refusal = error
      throw error
    } finally {
      timer = setTimeout(giveUp, LONGEST_SILENCE)
      if (controller.signal.aborted) clearTimeout(timer)
    }
  }
  asker.signal.addEventListener('abort', stop, { once: true })
  if (asker.signal.aborted) stop()
  return {
    signal: controller.signal,
    asker: {
      signal: controller.signal,
      log: (message, level) => asker.log(message, level),
      roots: (options) => asker.roots(options),
      ask: ((question: never) => pausing(() => asker.ask(question))) as Asker['ask'],
      sample: (prompt, options) => pausing(() => asker.sample(prompt, options)),
    },
    alive,
    refusal: () => refusal,
    end() {
      controller.abort()
      clearTimeout(timer)
      asker.signal.removeEventListener('abort', stop)
    },
  }
}
