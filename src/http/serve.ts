/**
 * Runs an app as a server until the process is stopped; shared by `serve http` and `mcp serve
 * --transport http`.
 */

import { resolve } from 'node:path'
import { toJsonText } from '../cli/formats/json-text.ts'
import { isEnvelopeMode } from '../cli/output.ts'
import { choosePresentation } from '../cli/presentation.ts'
import { readSecretFile } from '../cli/secrets.ts'
import { createServerLifecycle } from '../cli/server.ts'
import { redirectStrayOutput } from '../cli/stray-output.ts'
import type { BuiltinContext, CommandHost } from '../cli/types.ts'
import type { Io } from '../protocol/io.ts'
import { compact } from '../util/values.ts'
import type { HttpApp } from './exchange.ts'
import type { HttpGuardOptions } from './guards.ts'
import { createServerGuards, withGuards } from './guards.ts'
import { listenHttp } from './node-server.ts'

type HttpServeOptions = HttpGuardOptions & {
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
  readonly process: CommandHost
}

const SHUTDOWN_GRACE_MS = 5_000

/**
 * Serves an app behind the guards until the process is told to stop; says where on stderr, and
 * gives the exit status. Throws CONFIG where the address or the guards cannot be had.
 */
export async function serveHttpApp(app: HttpApp, options: HttpServeOptions): Promise<number> {
  const { host, port, basePath, label, path = '', json, io, process } = options
  const guards = await createServerGuards(host, options)
  process.prepareForTools(redirectStrayOutput, createServerLifecycle(io, json, SHUTDOWN_GRACE_MS))
  const server = await listenHttp(
    withGuards(app, guards, { tool: label }),
    compact({ host, port, grace: SHUTDOWN_GRACE_MS, signal: process.signal, basePath }),
  )
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

/** What the flags of a server carry once they are checked. */
export type ServingInput = {
  readonly host: string
  readonly port: number
  readonly tokenFile?: string
  readonly allowedHost?: readonly string[]
  readonly allowedOrigin?: readonly string[]
}

/** The options of a server as its flags give them; throws where the token cannot be read. */
export function createServeOptions(
  { host, port, tokenFile, allowedHost, allowedOrigin }: ServingInput,
  { set, io, globals, host: process }: BuiltinContext,
): HttpServeOptions {
  const { mode } = choosePresentation(globals, io, set.options.defaultOutput)
  return compact({
    host,
    port,
    token: tokenFile !== undefined ? readTokenFile(tokenFile, io) : undefined,
    allowedHosts: allowedHost,
    allowedOrigins: allowedOrigin,
    label: set.name,
    json: isEnvelopeMode(mode),
    io,
    process,
  })
}

function readTokenFile(file: string, { cwd }: Io): string {
  return readSecretFile('token', resolve(cwd, file), 'token-file').trim()
}
