import type { Io } from '../../../contract/io.ts'
import type { Host } from '../../cli/host.ts'
import { toJsonText } from '../../cli/output/json-text.ts'
import { servingProcess } from '../../cli/serving.ts'
import { redirectStrayOutput } from '../../cli/stray-output.ts'
import type { HttpApp } from '../exchange.ts'
import { serverGuards } from '../guards/guard-options.ts'
import type { GuardOptions } from '../guards/guard-options.ts'
import { guarded } from '../guards/guards.ts'
import { listen } from '../node/server.ts'

export type ServeOptions = GuardOptions & {
  /** The address to bind. Beyond loopback a token is needed. */
  readonly host: string
  readonly port: number
  /** `''` or `/x`. */
  readonly basePath?: string
  /** What listens, for the line that says so. */
  readonly label: string
  /** What clients append to the address: `/mcp`. */
  readonly path?: string
  /** Whoever reads stderr wants JSON lines. */
  readonly json: boolean
  readonly io: Io
  readonly process: Host
}

const GRACE_MS = 5_000

/** Serves an app behind the guards until the process is told to stop; says where on stderr, and gives the exit status. Throws CONFIG where the address or the guards cannot be had. */
export async function serveApp(app: HttpApp, options: ServeOptions): Promise<number> {
  const { host, port, basePath, label, path = '', json, io, process } = options
  const guards = await serverGuards(host, options)
  process.prepareForTools(redirectStrayOutput, servingProcess(io, json, GRACE_MS))
  const server = await listen(guarded(app, guards, { tool: label }), {
    host,
    port,
    grace: GRACE_MS,
    signal: process.signal,
    ...(basePath !== undefined && { basePath }),
  })
  const url = `${server.url}${path}`
  io.stderr.write(
    json
      ? `${toJsonText({ type: 'notification', kind: 'listening', url })}\n`
      : `${label} listens on ${url}\n`,
  )
  await server.closed
  await io.stderr.flush()
  return 0
}
