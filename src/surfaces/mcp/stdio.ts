import type { Io } from '../../contract/io.ts'
import { Connection } from './connection.ts'
import type { McpServer } from './server-type.ts'
import { errorMessage, RPC } from './wire/messages.ts'
import { takeLines } from '../wire/take-lines.ts'
import { createWriter } from '../wire/writer.ts'

const DRAIN_MS = 5000
const LAST_WORDS_MS = 1000

/** Serves one client over stdin and stdout until it closes stdin or the signal aborts; calls that still run may end. */
export async function serveStdio(server: McpServer, io: Io, signal: AbortSignal): Promise<void> {
  io.stdout.unblock?.()
  const writer = createWriter(io.stdout, () => connection.running <= 1)
  const connection = new Connection(server, writer)
  const stopListening = server.onChange((change) => connection.tell(change))
  try {
    await takeLines(io, signal, writer, (line) => {
      if (line === 'too long')
        writer.write(errorMessage(undefined, { code: RPC.parse, message: 'the line is too long' }))
      else connection.take(line)
    })
    // Who closes stdin may still be reading: what was asked is answered, if it does not take too long.
    if (!signal.aborted) await connection.idle(DRAIN_MS, signal)
  } finally {
    stopListening()
    server.close()
    await connection.over(LAST_WORDS_MS)
    await writer.drained()
  }
}
