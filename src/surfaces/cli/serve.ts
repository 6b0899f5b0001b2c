import type { Io } from '../../contract/io.ts'
import type { ToolError } from '../../contract/tool-error.ts'
import { refuseExit } from '../../call/exit-guard.ts'
import { failOnlyCall } from '../../call/running.ts'
import type { Host } from './host.ts'
import { notificationLine, notificationText } from './progress/notify.ts'
import { redirectStrayOutput } from './stray-output.ts'

export type ServeProcess = {
  readonly io: Io
  readonly process: Host
  /** Whoever reads stderr wants JSON lines. */
  readonly json: boolean
  /** Milliseconds that the server may take to stop after a signal. */
  readonly farewell: number
}

/** Runs a server in this process: what its handlers print, throw late or exit with ends at most their own call. */
export async function serve<T>({ io, process, json, farewell }: ServeProcess, work: () => Promise<T>): Promise<T> {
  process.prepareForTools(redirectStrayOutput, {
    farewell,
    onCrash(error) {
      // Of one call it is known whose error it is; of several it is not, and the others must not suffer.
      failOnlyCall(error)
      tellCrash(io, json, error)
    },
  })
  const allowExit = refuseExit(failOnlyCall)
  try {
    return await work()
  } finally {
    allowExit()
    await io.stderr.flush()
  }
}

function tellCrash(io: Io, json: boolean, { message }: ToolError): void {
  const event = { type: 'log', level: 'error', message } as const
  io.stderr.write(`${json ? notificationLine(event) : notificationText(event)}\n`)
}
