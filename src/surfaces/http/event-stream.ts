import type { CallEvent } from '../../contract/events.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { toJsonText } from '../cli/output/json-text.ts'
import { envelopeOf } from './answers.ts'
import type { HttpAnswer } from './exchange.ts'

const KEEP_ALIVE_MS = 15_000
const SILENT = Symbol('silent')

/** The events of a call as server-sent events, the last one its outcome; comments keep the connection alive while nothing happens. */
export function eventAnswer(
  events: AsyncIterable<CallEvent>,
  complete: (outcome: Outcome) => Outcome,
  keepAlive = KEEP_ALIVE_MS,
): HttpAnswer {
  return {
    status: 200,
    // Some proxies collect an answer before they pass it on, unless they are told.
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    },
    body: writeEvents(events, complete, keepAlive),
  }
}

async function* writeEvents(
  events: AsyncIterable<CallEvent>,
  complete: (outcome: Outcome) => Outcome,
  keepAlive: number,
): AsyncGenerator<string, void, void> {
  const iterator = events[Symbol.asyncIterator]()
  try {
    for (let next = iterator.next(); ; next = iterator.next()) {
      let step = await orSilence(next, keepAlive)
      while (step === SILENT) {
        yield ': still working\n\n'
        step = await orSilence(next, keepAlive)
      }
      if (step.done) return
      yield writeEvent(step.value, complete)
    }
  } finally {
    void iterator.return?.()
  }
}

function writeEvent(event: CallEvent, complete: (outcome: Outcome) => Outcome): string {
  const shown = event.type === 'result' ? { type: 'result', ...envelopeOf(complete(event)) } : event
  return `event: ${event.type}\ndata: ${toJsonText(shown)}\n\n`
}

function orSilence<T>(work: Promise<T>, milliseconds: number): Promise<T | typeof SILENT> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(SILENT), milliseconds)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
