import type { CallEvent } from '../../contract/events.ts'
import type { Io } from '../../contract/io.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { failCurrentCall } from '../../call/exit-guard.ts'
import type { Servable } from '../../call/servable.ts'
import type { Serving } from './host.ts'
import { notificationLine, notificationText } from './progress/notify.ts'

const LAST_WORDS_MS = 2_000

/** How a server lives in its process: an error that a handler leaves unhandled fails the call that it belongs to, is told on stderr, and ends nothing else. */
export function servingProcess(io: Io, json: boolean, grace: number): Serving {
  return {
    farewell: grace + LAST_WORDS_MS,
    onCrash(error) {
      failCurrentCall(error)
      tell(io, json, error.message)
    },
  }
}

/** The same toolset, whose operator hears on stderr of every call that failed by a fault of the tool itself. */
export function watched(set: Servable, io: Io, json: boolean): Servable {
  const look = lookAt(io, json)
  const call: Servable['call'] = async (...given) => {
    const outcome = await set.call(...given)
    look(outcome)
    return outcome
  }
  const stream: Servable['stream'] = (...given) => watchEvents(set.stream(...given), look)
  // Everything else, what is added later included, is the toolset's own.
  return Object.create(set, { call: { value: call }, stream: { value: stream } }) as Servable
}

/** Tells the operator on stderr of a call that failed by a fault of the tool itself. */
export function lookAt(io: Io, json: boolean): (outcome: Outcome) => void {
  return (outcome) => {
    if (!outcome.ok && outcome.error.code === 'INTERNAL')
      tell(io, json, `${outcome.meta.tool}: ${outcome.error.message}`)
  }
}

async function* watchEvents(
  events: AsyncIterable<CallEvent>,
  look: (outcome: Outcome) => void,
): AsyncIterable<CallEvent> {
  for await (const event of events) {
    if (event.type === 'result') look(event)
    yield event
  }
}

function tell(io: Io, json: boolean, message: string): void {
  const event = { type: 'log', level: 'error', message } as const
  io.stderr.write(`${json ? notificationLine(event) : notificationText(event)}\n`)
}
