import { toMilliseconds } from '../../../contract/duration.ts'
import type { BuiltinContext } from '../../builtin/builtin.ts'
import { watched } from '../../cli/serving.ts'
import { createApp } from '../app.ts'
import { checkBasePath } from '../check-options.ts'
import { lazyMcp } from '../lazy-mcp.ts'
import { serveApp } from './serve.ts'
import { servingOptions } from './serving-input.ts'
import type { ServingInput } from './serving-input.ts'

type Input = ServingInput & {
  readonly basePath?: string
  readonly bodyLimit?: number
  readonly confirm: 'auto' | 'always' | 'never'
}

/** `serve http`: gives the exit status when the server has stopped. */
export async function serveHttp(given: unknown, context: BuiltinContext): Promise<number> {
  const input = given as Input
  const {
    io,
    host,
    globals: { timeout },
  } = context
  const basePath = checkBasePath(input.basePath)
  if (timeout !== undefined) toMilliseconds(timeout, 'timeout')
  const options = servingOptions(input, context)
  const set = watched(context.set, io, options.json)
  const limit = input.bodyLimit === undefined ? {} : { bodyLimit: input.bodyLimit }
  const call = { cwd: io.cwd, env: io.env, ...(timeout !== undefined && { timeout }) }
  const app = createApp(set, {
    call: { ...call, confirm: input.confirm === 'never' },
    mcp: lazyMcp(set, {
      confirm: input.confirm === 'always' ? 'always' : 'auto',
      call,
      signal: host.signal,
      ...limit,
    }),
    basePath,
    token: options.token !== undefined,
    ...limit,
  })
  return serveApp(app, { ...options, basePath })
}
