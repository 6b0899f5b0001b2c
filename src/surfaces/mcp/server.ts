import { LiveCalls } from './calls/live-calls.ts'
import { listTools } from './catalogue/tools.ts'
import { findMethod } from './methods/table.ts'
import { Artifacts } from './results/kept-artifacts.ts'
import type { McpServer, McpServerOptions, ServerChange } from './server-type.ts'
import type { McpSource } from './source.ts'
import { refuse } from './wire/answered.ts'
import { resultMessage } from './wire/messages.ts'
import { rpcErrorOf } from './wire/rpc-error-of.ts'
import { META } from './wire/versions.ts'

/** Makes a server. */
export function createServer(source: McpSource, options: McpServerOptions = {}): McpServer {
  const listeners = new Set<(change: ServerChange) => void>()
  const tell = (change: ServerChange): void => {
    for (const listener of [...listeners]) listener(change)
  }
  const stopping = new AbortController()
  const serverInfo = { [META.server]: { name: source.name, version: source.version } }
  const stopListening = source.onChange(tell)
  const server: McpServer = {
    source,
    options: { confirm: 'auto', pageSize: 500, ...options },
    calls: new LiveCalls(options.now ?? Date.now, (task) => tell({ kind: 'task', task })),
    catalogue: listTools(source),
    artifacts: new Artifacts(),
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    stopping: stopping.signal,
    async answer(method, params, exchange) {
      const { id, caller } = exchange
      try {
        const result = await findMethod(method, caller.era)(server, params, exchange)
        return {
          text: resultMessage(id, caller.era === 'legacy' ? result : stamp(result, serverInfo)),
        }
      } catch (error) {
        return refuse(id, rpcErrorOf(error))
      }
    },
    stop() {
      stopListening()
      stopping.abort()
      server.calls.abandon()
    },
    close() {
      server.stop()
      server.calls.close()
    },
  }
  return server
}

// Modern results say what they are and who made them.
function stamp(result: object, serverInfo: object): object {
  const { _meta: meta, ...rest } = result as { readonly _meta?: object }
  return { resultType: 'complete', ...rest, _meta: { ...serverInfo, ...meta } }
}
