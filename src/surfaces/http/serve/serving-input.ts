import { resolve } from 'node:path'
import type { Io } from '../../../contract/io.ts'
import type { BuiltinContext } from '../../builtin/builtin.ts'
import { findCaller } from '../../cli/caller.ts'
import { choosePresentation } from '../../cli/mode.ts'
import { printsEnvelope } from '../../cli/output/print.ts'
import { readSecret } from '../../cli/secrets.ts'
import type { ServeOptions } from './serve.ts'

/** What the flags of a server carry once they are checked. */
export type ServingInput = {
  readonly host: string
  readonly port: number
  readonly tokenFile?: string
  readonly allowedHost?: readonly string[]
  readonly allowedOrigin?: readonly string[]
}

/** The options of a server as its flags give them; throws where the token cannot be read. */
export function servingOptions(
  { host, port, tokenFile, allowedHost, allowedOrigin }: ServingInput,
  { set, io, globals, host: process }: BuiltinContext,
): ServeOptions {
  const { mode } = choosePresentation(
    globals,
    io,
    findCaller(io.env),
    {},
    set.options.defaultOutput,
  )
  return {
    host,
    port,
    ...(tokenFile !== undefined && { token: readToken(tokenFile, io) }),
    ...(allowedHost && { allowedHosts: allowedHost }),
    ...(allowedOrigin && { allowedOrigins: allowedOrigin }),
    label: set.name,
    json: printsEnvelope(mode),
    io,
    process,
  }
}

function readToken(file: string, { cwd }: Io): string {
  return readSecret('token', resolve(cwd, file), 'token-file').trim()
}
