import type { Io } from '../../contract/io.ts'
import { SERVE_VERSION } from '../../contract/serve-protocol.ts'
import type { Globals } from '../cli/argv/globals.ts'
import type { Host } from '../cli/host.ts'
import { lookAt, servingProcess } from '../cli/serving.ts'
import { redirectStrayOutput } from '../cli/stray-output.ts'
import type { Servable } from '../../call/servable.ts'
import { takeLines } from '../wire/take-lines.ts'
import { createWriter } from '../wire/writer.ts'
import { Connection } from './connection.ts'
import { readLimit } from './read-options.ts'

const DRAIN_MS = 5000
const LAST_WORDS_MS = 1000

/** `--serve`: answers calls by JSON lines on stdin and stdout until stdin ends or a signal comes; gives the exit status. */
export async function serveCalls(
  set: Servable,
  { timeout }: Globals,
  io: Io,
  host: Host,
): Promise<number> {
  const limit = readLimit(timeout)
  host.prepareForTools(redirectStrayOutput, servingProcess(io, true, DRAIN_MS))
  io.stdout.unblock?.()
  const writer = createWriter(io.stdout, () => connection.running <= 1)
  const connection = new Connection(set, writer, {
    look: lookAt(io, true),
    cwd: io.cwd,
    env: io.env,
    limit,
  })
  writer.write(JSON.stringify({ serve: SERVE_VERSION, name: set.name, version: set.version }))
  try {
    await takeLines(io, host.signal, writer, (line) => connection.take(line))
    connection.deaf()
    // Who closes stdin may still be reading: what was asked is answered, if it does not take too long.
    if (!host.signal.aborted) await connection.idle(DRAIN_MS, host.signal)
  } finally {
    connection.cancelAll('the program was told to end')
    await connection.idle(LAST_WORDS_MS)
    await writer.drained()
  }
  await io.stderr.flush()
  return 0
}
