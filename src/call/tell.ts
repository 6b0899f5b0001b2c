import type { ToolEvent } from '../contract/events.ts'
import { asHost } from './exit-guard.ts'
import { toToolError } from './failure.ts'
import type { CallOptions } from './options.ts'
import type { RunningCall } from './running.ts'

/** Hands an event to whoever listens. Listeners belong to the host: what goes wrong there ends the call, and never the process. */
export function tell(
  event: ToolEvent,
  { onEvent }: CallOptions,
  call: RunningCall,
): void | Promise<void> {
  if (!onEvent || call.over) return
  const fail = (error: unknown): void => call.fail(toToolError(error))
  try {
    const told = asHost(() => onEvent(event))
    return told instanceof Promise ? told.catch(fail) : undefined
  } catch (error) {
    fail(error)
  }
}
