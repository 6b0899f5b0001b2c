import { freePort, untilListening } from '../../../scripts/conformance/free-port.mjs'
import { AS_LONG_AS_ITS_FILE, startProgram } from '../../support/run-program.ts'
import type { Running, RunOptions } from '../../support/run-program.ts'

/** A fixture that serves MCP over HTTP. */
export type HttpServer = {
  readonly url: string
  readonly port: number
  readonly program: Running
  /** Ends it the way a supervisor does and waits. */ stop(): Promise<void>
}

/** Starts a fixture as an HTTP server on a free port of the loopback and waits until it listens. */
export async function serveHttp(
  fixture: string,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<HttpServer> {
  const port = await freePort()
  const program = startProgram(
    fixture,
    ['--serve-mcp', 'http', '--host', '127.0.0.1', '--port', String(port), ...args],
    { longest: AS_LONG_AS_ITS_FILE, ...options },
  )
  await untilListening(
    port,
    program.ended.then(({ status, stdout, stderr }) => `exit ${status}\n${stdout}${stderr}`),
  )
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    program,
    async stop() {
      program.kill('SIGTERM')
      await program.ended
    },
  }
}
