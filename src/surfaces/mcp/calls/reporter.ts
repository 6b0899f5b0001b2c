import type { ToolEvent, ToolInvokedEvent } from '../../../contract/events.ts'
import { reaches, toWireLevel } from '../wire/log-levels.ts'
import type { LiveCall } from './live-call.ts'

/** Carries the events of one call to its client. */
export type Reporter = { onEvent(event: ToolEvent | ToolInvokedEvent): void; stop(): void }

const BURST = 20
const REFILL_MS = 100
const HEARTBEAT_MS = 15_000
const LEAST_STEP = 1e-6

/** Progress goes to clients that gave a token, at most some ten a second and always growing; log lines to those who asked for them. Of several requests of one call the newest counts. */
export function createReporter(call: LiveCall, tool: string): Reporter {
  let progress: Notifier | undefined
  const heard = (): Notifier => (progress ??= progressNotifier(call))
  if (call.progressToken !== undefined) heard()
  return {
    onEvent(event) {
      if (event.type === 'progress') {
        call.say(event.message)
        if (call.progressToken !== undefined) heard().tell(event.message, event.percent)
      } else if (event.type === 'log') {
        const level = toWireLevel(event.level)
        if (reaches(level, call.caller.logLevel))
          call.notify('notifications/message', { level, logger: tool, data: event.message })
      }
    },
    stop: () => progress?.stop(),
  }
}

type Notifier = { tell(message: string, percent: number | undefined): void; stop(): void }

function progressNotifier(call: LiveCall): Notifier {
  let last = -1
  let knowsShare = false
  let tokens = BURST
  let refilled = performance.now()
  let held: { readonly message: string; readonly percent: number | undefined } | undefined
  let drain: NodeJS.Timeout | undefined
  // Clients that wait for progress would give up on a tool that works in silence.
  const heartbeat = setInterval(() => send('still working', undefined), HEARTBEAT_MS).unref()

  const send = (message: string, percent: number | undefined): void => {
    knowsShare ||= percent !== undefined
    if (percent !== undefined && percent > last) last = percent
    else last += last < 0 || !knowsShare ? 1 : LEAST_STEP
    if (call.progressToken !== undefined)
      call.notify('notifications/progress', {
        progressToken: call.progressToken,
        progress: last,
        ...(knowsShare && { total: 100 }),
        message,
      })
    heartbeat.refresh()
  }
  const flush = (): void => {
    clearTimeout(drain)
    drain = undefined
    if (!held) return
    const { message, percent } = held
    held = undefined
    send(message, percent)
  }
  return {
    tell(message, percent) {
      const now = performance.now()
      const earned = Math.floor((now - refilled) / REFILL_MS)
      tokens = Math.min(BURST, tokens + earned)
      refilled += earned * REFILL_MS
      if (tokens > 0 && !held) {
        tokens--
        return send(message, percent)
      }
      // The newest is worth more than the ones before it.
      held = { message, percent }
      drain ??= setTimeout(flush, REFILL_MS).unref()
    },
    stop() {
      clearInterval(heartbeat)
      flush()
    },
  }
}
