import type { Caller } from '../exchange.ts'
import { RPC, RpcError } from '../wire/messages.ts'
import { complete } from './completion.ts'
import { discover } from './discover.ts'
import type { Method } from './method.ts'
import { getPrompt, listPrompts } from './prompts.ts'
import { listResources, listTemplates, readResource } from './resources.ts'
import { listen } from './subscriptions.ts'
import { cancelTask, getTask, updateTask } from './tasks.ts'
import { callTool, listTools } from './tools.ts'

const COMMON: { readonly [method: string]: Method } = {
  'tools/list': listTools,
  'tools/call': callTool,
  'resources/list': listResources,
  'resources/templates/list': listTemplates,
  'resources/read': readResource,
  'prompts/list': listPrompts,
  'prompts/get': getPrompt,
  'completion/complete': complete,
}

const MODERN: { readonly [method: string]: Method } = {
  ...COMMON,
  'server/discover': discover,
  'subscriptions/listen': listen,
  'tasks/get': getTask,
  'tasks/update': updateTask,
  'tasks/cancel': cancelTask,
}

// What belongs to a handshake (initialize, setLevel, subscribe) is answered by the session.
const LEGACY: { readonly [method: string]: Method } = { ...COMMON, ping: () => ({}) }

/** The method of a name in an era; throws RpcError when there is none. */
export function findMethod(name: string, era: Caller['era']): Method {
  const method = hasMethod(name, era) ? (era === 'modern' ? MODERN : LEGACY)[name] : undefined
  if (!method) throw new RpcError(RPC.methodNotFound, `there is no method '${name.slice(0, 100)}'`)
  return method
}

export function hasMethod(name: string, era: Caller['era']): boolean {
  return Object.hasOwn(era === 'modern' ? MODERN : LEGACY, name)
}
