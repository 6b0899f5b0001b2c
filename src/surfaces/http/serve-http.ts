import { toMilliseconds } from '../../contract/duration.ts'
import type { BuiltinContext } from '../builtin/builtin.ts'
import { createApp } from './app.ts'
import { checkBasePath } from './check-options.ts'
import { serveApp } from './serve.ts'
import { servingOptions } from './serving-input.ts'
import type { ServingInput } from './serving-input.ts'

type Input = ServingInput & { readonly basePath?: string; readonly confirm: 'always' | 'never' }

/** `serve http`: gives the exit status when the server has stopped. */
export async function serveHttp(given: unknown, context: BuiltinContext): Promise<number> {
  const input = given as Input
  const { set, io, globals: { timeout } } = context
  const basePath = checkBasePath(input.basePath)
  if (timeout !== undefined) toMilliseconds(timeout, 'timeout')
  const options = servingOptions(input, context)
  const app = createApp(set, {
    call: { cwd: io.cwd, env: io.env, confirm: input.confirm === 'never', ...(timeout !== undefined && { timeout }) },
    bodyLimit: input.bodyLimit,
    basePath,
    token: options.token !== undefined,
  })
  return serveApp(app, { ...options, basePath })
}
