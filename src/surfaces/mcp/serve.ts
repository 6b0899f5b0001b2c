import { toMilliseconds } from '../../contract/duration.ts'
import type { BuiltinContext } from '../builtin/builtin.ts'
import { findCaller } from '../cli/caller.ts'
import { choosePresentation } from '../cli/mode.ts'
import { printsEnvelope } from '../cli/output/print.ts'
import { servingProcess, watched } from '../cli/serving.ts'
import { redirectStrayOutput } from '../cli/stray-output.ts'
import type { ServingInput } from '../http/serve/serving-input.ts'
import { sourceOf } from './progressive/source-of.ts'
import { createServer } from './server.ts'
import { serveStdio } from './stdio.ts'

type Input = ServingInput & {
  readonly transport: 'stdio' | 'http'
  readonly progressive?: boolean
  readonly confirm: 'auto' | 'always'
  readonly pageSize: number
  readonly bodyLimit?: number
}

const GRACE_MS = 5000

/** `mcp serve`: gives the exit status when the client or the operator has ended it. */
export async function serveMcp(given: unknown, context: BuiltinContext): Promise<number> {
  const { transport, progressive, confirm, pageSize, bodyLimit, ...serving } = given as Input
  const { set, io, host, globals } = context
  const { timeout } = globals
  if (timeout !== undefined) toMilliseconds(timeout, 'timeout')
  const options = {
    confirm,
    pageSize,
    ...(progressive !== undefined && { progressive }),
    call: { cwd: io.cwd, env: io.env, ...(timeout !== undefined && { timeout }) },
  }
  if (transport === 'http')
    return (await import('./serve-http.ts')).serveMcpHttp(
      serving,
      { ...options, ...(bodyLimit !== undefined && { bodyLimit }) },
      context,
    )
  const { mode } = choosePresentation(
    globals,
    io,
    findCaller(io.env),
    {},
    set.options.defaultOutput,
  )
  const json = printsEnvelope(mode)
  host.prepareForTools(redirectStrayOutput, servingProcess(io, json, GRACE_MS))
  await serveStdio(
    createServer(sourceOf(watched(set, io, json), options), options),
    io,
    host.signal,
  )
  await io.stderr.flush()
  return 0
}
