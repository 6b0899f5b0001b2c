import type { Io } from '../../contract/io.ts'
import { failCurrentCall } from '../../call/exit-guard.ts'
import type { Serving } from './host.ts'
import { notificationLine, notificationText } from './progress/notify.ts'

const LAST_WORDS_MS = 2_000

/** How a server lives in its process: an error that a handler leaves unhandled fails the call that it belongs to, is told on stderr, and ends nothing else. */
export function servingProcess(io: Io, json: boolean, grace: number): Serving {
  return {
    farewell: grace + LAST_WORDS_MS,
    onCrash(error) {
      failCurrentCall(error)
      const event = { type: 'log', level: 'error', message: error.message } as const
      io.stderr.write(`${json ? notificationLine(event) : notificationText(event)}\n`)
    },
  }
}
