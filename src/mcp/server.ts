/**
 * The MCP server and its table of methods.
 */

import { compact } from '../util/values.ts'
import { McpCallRegistry } from './call-registry.ts'
import type { McpMethod } from './method.ts'
import { CACHE_HINTS } from './method.ts'
import { completeArgument, getPrompt, listPrompts } from './prompts.ts'
import type { McpClient } from './protocol.ts'
import {
  formatResult,
  META_KEYS,
  RPC_CODES,
  RpcError,
  SUPPORTED_VERSIONS,
  TASKS_EXTENSION,
  toErrorResponse,
} from './protocol.ts'
import { listResources, listResourceTemplates, readResource } from './resources.ts'
import type { McpServer, McpServerOptions, ServerChange } from './server-types.ts'
import { ArtifactRegistry } from './server-types.ts'
import type { McpSource } from './source.ts'
import { createToolCatalogue } from './source.ts'
import { cancelTask, getTask, listenForChanges, updateTask } from './subscriptions.ts'
import { callTool, listTools } from './tools.ts'

/** Makes a server. */
export function createMcpServer(source: McpSource, options: McpServerOptions = {}): McpServer {
  const listeners = new Set<(change: ServerChange) => void>()
  const announce = (change: ServerChange): void => {
    for (const listener of [...listeners]) listener(change)
  }
  const stopping = new AbortController()
  const serverInfo = { [META_KEYS.server]: { name: source.set.name, version: source.set.version } }
  const stopListening = source.set.onChange(announce)
  const server: McpServer = {
    source,
    options: { confirm: 'auto', pageSize: 500, ...options },
    calls: new McpCallRegistry((task) => announce({ kind: 'task', task })),
    catalogue: createToolCatalogue(source),
    artifacts: new ArtifactRegistry(),
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    stopping: stopping.signal,
    async answer(method, params, exchange) {
      const { id, client } = exchange
      try {
        const result = await findMethod(method, client.era)(server, params, exchange)
        const isStamped = client.era === 'modern'
        return { text: formatResult(id, isStamped ? stampResult(result, serverInfo) : result) }
      } catch (error) {
        return toErrorResponse(id, error)
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
function stampResult(result: object, serverInfo: object): object {
  const { _meta: meta, ...rest } = result as { readonly _meta?: object }
  return { resultType: 'complete', ...rest, _meta: { ...serverInfo, ...meta } }
}

/** Describes the server to modern clients. */
const discoverServer: McpMethod = (server) => ({
  supportedVersions: SUPPORTED_VERSIONS,
  capabilities: getServerCapabilities('modern'),
  ...getInstructions(server),
  ...CACHE_HINTS,
})

/** What the server offers to clients of an era. */
export function getServerCapabilities(era: McpClient['era']): object {
  return compact({
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
    completions: {},
    logging: {},
    extensions: era === 'modern' ? { [TASKS_EXTENSION]: {} } : undefined,
  })
}

/** Guidance for the model, where there is some. */
export function getInstructions({ source }: McpServer): object {
  return compact({ instructions: source.description })
}

type MethodTable = { readonly [method: string]: McpMethod }

const COMMON_METHODS: MethodTable = {
  'tools/list': listTools,
  'tools/call': callTool,
  'resources/list': listResources,
  'resources/templates/list': listResourceTemplates,
  'resources/read': readResource,
  'prompts/list': listPrompts,
  'prompts/get': getPrompt,
  'completion/complete': completeArgument,
}

const METHODS: { readonly [Era in McpClient['era']]: MethodTable } = {
  modern: {
    ...COMMON_METHODS,
    'server/discover': discoverServer,
    'subscriptions/listen': listenForChanges,
    'tasks/get': getTask,
    'tasks/update': updateTask,
    'tasks/cancel': cancelTask,
  },
  // What belongs to a handshake (initialize, setLevel, subscribe) is answered by the session.
  legacy: { ...COMMON_METHODS, ping: () => ({}) },
}

/** The method of a name in an era; throws RpcError when there is none. */
function findMethod(name: string, era: McpClient['era']): McpMethod {
  if (hasMethod(name, era)) return METHODS[era][name]!
  throw new RpcError(RPC_CODES.methodNotFound, `there is no method '${name.slice(0, 100)}'`)
}

export function hasMethod(name: string, era: McpClient['era']): boolean {
  return Object.hasOwn(METHODS[era], name)
}
