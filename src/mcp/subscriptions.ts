/**
 * `subscriptions/listen`, and the methods of the tasks extension.
 */

import { onAbort } from '../core/lifecycle.ts'
import { compact, isObject } from '../util/values.ts'
import { describeTask } from './call-registry.ts'
import type { McpMethod } from './method.ts'
import type { McpExchange, RpcParams } from './protocol.ts'
import {
  META_KEYS,
  missingCapabilityError,
  RPC_CODES,
  RpcError,
  TASKS_EXTENSION,
} from './protocol.ts'
import type { ServerChange } from './server-types.ts'

const LIST_KINDS = {
  toolsListChanged: 'tools',
  promptsListChanged: 'prompts',
  resourcesListChanged: 'resources',
} as const
/** What a subscription is about. */
type SubscriptionFilter = {
  readonly lists: ReadonlySet<string>
  readonly uris: ReadonlySet<string>
  readonly tasks: ReadonlySet<string>
  readonly acknowledged: RpcParams
}

/** Keeps a stream of changes open until the client cancels it or the server stops. */
export const listenForChanges: McpMethod = ({ calls, onChange, stopping }, params, exchange) => {
  const { notifications } = params
  if (!isObject(notifications))
    throw new RpcError(RPC_CODES.invalidParams, 'params.notifications is not an object')
  if (notifications['taskIds'] !== undefined) requireTasks(exchange)
  const watch = calls.watch(pickTextItems(notifications['taskIds']))
  const filter = parseSubscriptionFilter(notifications, watch.ids)
  const mark = { [META_KEYS.subscription]: exchange.id }
  exchange.notify('notifications/subscriptions/acknowledged', {
    _meta: mark,
    notifications: filter.acknowledged,
  })
  return new Promise((resolve) => {
    const stops = [
      watch.stop,
      onChange((change) => {
        const sent = toNotification(change, filter)
        if (sent) exchange.notify(sent.method, { ...sent.params, _meta: mark })
      }),
    ]
    const end = (): void => {
      for (const stop of stops) stop()
      resolve({ _meta: mark })
    }
    if (stopping.aborted || exchange.cancellation.aborted) return end()
    stops.push(exchange.cancellation.onCancel(end), onAbort(stopping, end))
  })
}

function parseSubscriptionFilter(wanted: RpcParams, tasks: readonly string[]): SubscriptionFilter {
  const lists = Object.entries(LIST_KINDS).filter(([name]) => wanted[name] === true)
  const uris = pickTextItems(wanted['resourceSubscriptions'])
  return {
    lists: new Set(lists.map(([, kind]) => kind)),
    uris: new Set(uris),
    tasks: new Set(tasks),
    acknowledged: {
      ...Object.fromEntries(lists.map(([name]) => [name, true])),
      ...compact({
        resourceSubscriptions: uris.length > 0 ? uris : undefined,
        taskIds: wanted['taskIds'] !== undefined ? tasks : undefined,
      }),
    },
  }
}

function toNotification(
  change: ServerChange,
  { lists, uris, tasks }: SubscriptionFilter,
): { readonly method: string; readonly params: object } | undefined {
  if (change.kind === 'task')
    return tasks.has(change.task.id)
      ? { method: 'notifications/tasks', params: describeTask(change.task) }
      : undefined
  if (change.kind === 'resource')
    return uris.has(change.uri)
      ? { method: 'notifications/resources/updated', params: { uri: change.uri } }
      : undefined
  return lists.has(change.kind)
    ? { method: `notifications/${change.kind}/list_changed`, params: {} }
    : undefined
}

function pickTextItems(value: unknown): string[] {
  return Array.isArray(value)
    ? value.filter((item): item is string => typeof item === 'string')
    : []
}

export const getTask: McpMethod = ({ calls }, { taskId }, exchange) => {
  requireTasks(exchange)
  return describeTask(calls.task(taskId))
}

export const updateTask: McpMethod = ({ calls }, { taskId, inputResponses }, exchange) => {
  requireTasks(exchange)
  const task = calls.task(taskId)
  if (!isObject(inputResponses))
    throw new RpcError(RPC_CODES.invalidParams, 'params.inputResponses is not an object')
  task.call.acceptAnswers(inputResponses)
  return {}
}

export const cancelTask: McpMethod = ({ calls }, { taskId }, exchange) => {
  requireTasks(exchange)
  calls.cancel(calls.task(taskId))
  return {}
}

/** Throws when the client did not declare the tasks extension. */
function requireTasks({ client }: McpExchange): void {
  if (!client.supports.tasks)
    throw missingCapabilityError({ extensions: { [TASKS_EXTENSION]: {} } })
}
