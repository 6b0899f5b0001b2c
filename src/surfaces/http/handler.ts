import type { Servable } from '../../call/servable.ts'
import { createApp } from './app.ts'
import { checkBasePath } from './check-options.ts'
import { fetchHandler } from './fetch-adapter.ts'
import { mountedGuards } from './guards/guard-options.ts'
import { guarded } from './guards/guards.ts'
import type { HandlerOptions, Mounted } from './handler-type.ts'
import { lazyMcp } from './lazy-mcp.ts'

/** Builds what a handler answers with. */
export async function mount(
  set: Servable,
  {
    basePath: given,
    token,
    allowedHosts,
    allowedOrigins,
    bodyLimit,
    confirm,
    ...call
  }: HandlerOptions,
): Promise<Mounted> {
  const basePath = checkBasePath(given)
  await set.prepare?.()
  const limit = bodyLimit === undefined ? {} : { bodyLimit }
  const api = createApp(set, {
    call: { ...call, ...(confirm !== undefined && { confirm }) },
    basePath,
    token: token !== undefined,
    mcp: lazyMcp(set, { call, ...limit }),
    ...limit,
  })
  const guards = await mountedGuards({
    ...(token !== undefined && { token }),
    ...(allowedHosts && { allowedHosts }),
    ...(allowedOrigins && { allowedOrigins }),
  })
  const app = guarded(api, guards, { tool: set.name, version: set.version })
  return { app, basePath, fetch: fetchHandler(app, { basePath }) }
}
