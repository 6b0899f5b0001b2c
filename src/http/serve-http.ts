import { withFaultLog } from '../cli/server.ts'
import type { BuiltinContext } from '../cli/types.ts'
import { toMilliseconds } from '../protocol/limits.ts'
import { compact } from '../util/values.ts'
import { createHttpApp, createLazyMcp } from './app.ts'
import { checkBasePath } from './options.ts'
import type { ServingInput } from './serve.ts'
import { createServeOptions, serveHttpApp } from './serve.ts'

type HttpServeInput = ServingInput & {
  readonly basePath?: string
  readonly bodyLimit?: number
  readonly confirm: 'auto' | 'always' | 'never'
}

/** `serve http`: gives the exit status when the server has stopped. */
export async function serveHttp(given: unknown, context: BuiltinContext): Promise<number> {
  const input = given as HttpServeInput
  const {
    io,
    host,
    globals: { timeout },
  } = context
  const basePath = checkBasePath(input.basePath)
  if (timeout !== undefined) toMilliseconds(timeout, 'timeout')
  const options = createServeOptions(input, context)
  const set = withFaultLog(context.set, io, options.json)
  const { confirm, bodyLimit } = input
  const call = compact({ cwd: io.cwd, env: io.env, timeout })
  const mcpConfirm = confirm === 'always' ? ('always' as const) : ('auto' as const)
  const mcp = createLazyMcp(
    set,
    compact({ confirm: mcpConfirm, call, signal: host.signal, bodyLimit }),
  )
  const app = createHttpApp(
    set,
    compact({
      call: { ...call, confirm: confirm === 'never' },
      mcp,
      basePath,
      token: options.token !== undefined,
      bodyLimit,
    }),
  )
  return serveHttpApp(app, { ...options, basePath })
}
