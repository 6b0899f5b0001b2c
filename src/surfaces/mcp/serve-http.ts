import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { BuiltinContext } from '../builtin/builtin.ts'
import { guarded } from '../http/guards.ts'
import { serverGuards } from '../http/guard-options.ts'
import { listen } from '../http/node-server.ts'
import { createMcpHttp } from './http.ts'
import type { McpHttpOptions } from './http.ts'

export async function serveMcpHttp(input: { readonly host: string; readonly port: number; readonly token_file?: string; readonly allowed_host?: readonly string[]; readonly allowed_origin?: readonly string[] }, options: McpHttpOptions, { set, io, host }: BuiltinContext): Promise<number> {
  const token = input.token_file === undefined ? undefined : readFileSync(resolve(io.cwd, input.token_file), 'utf8').trim()
  const guards = await serverGuards(input.host, { ...(token !== undefined && { token }), ...(input.allowed_host && { allowedHosts: input.allowed_host }), ...(input.allowed_origin && { allowedOrigins: input.allowed_origin }) })
  const app = createMcpHttp(set, { ...options, signal: host.signal })
  const listening = await listen(guarded(async (request) => (request.path === '/mcp' ? app(request) : { status: 404, headers: {}, body: '' }), guards), { host: input.host, port: input.port, signal: host.signal })
  io.stderr.write(`${listening.url}/mcp\n`)
  await listening.closed
  return 0
}
