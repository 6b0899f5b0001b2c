import { isObject } from '../../../contract/json.ts'
import { onAbort } from '../../../call/on-abort.ts'
import { describeTask } from '../calls/task.ts'
import type { ServerChange } from '../server-type.ts'
import { RPC, RpcError } from '../wire/messages.ts'
import type { Params } from '../wire/messages.ts'
import { META } from '../wire/versions.ts'
import type { Method } from './method.ts'
import { demandTasks } from './tasks.ts'

const LISTS = {
  toolsListChanged: 'tools',
  promptsListChanged: 'prompts',
  resourcesListChanged: 'resources',
} as const
/** What a subscription wants to hear of. */
type Filter = {
  readonly lists: ReadonlySet<string>
  readonly uris: ReadonlySet<string>
  readonly tasks: ReadonlySet<string>
  readonly acknowledged: Params
}

/** Keeps a stream open that tells of changes, until the client cancels it or the server stops. */
export const listen: Method = ({ calls, onChange, stopping }, params, exchange) => {
  const { notifications } = params
  if (!isObject(notifications))
    throw new RpcError(RPC.invalidParams, 'params.notifications is not an object')
  if (notifications['taskIds'] !== undefined) demandTasks(exchange)
  const watch = calls.watch(texts(notifications['taskIds']))
  const filter = readFilter(notifications, watch.ids)
  const mark = { [META.subscription]: exchange.id }
  exchange.notify('notifications/subscriptions/acknowledged', {
    _meta: mark,
    notifications: filter.acknowledged,
  })
  return new Promise((resolve) => {
    const stops = [
      watch.stop,
      onChange((change) => {
        const sent = notificationOf(change, filter)
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

function readFilter(wanted: Params, tasks: readonly string[]): Filter {
  const lists = Object.entries(LISTS).filter(([name]) => wanted[name] === true)
  const uris = texts(wanted['resourceSubscriptions'])
  return {
    lists: new Set(lists.map(([, kind]) => kind)),
    uris: new Set(uris),
    tasks: new Set(tasks),
    acknowledged: {
      ...Object.fromEntries(lists.map(([name]) => [name, true])),
      ...(uris.length > 0 && { resourceSubscriptions: uris }),
      ...(wanted['taskIds'] !== undefined && { taskIds: tasks }),
    },
  }
}

function notificationOf(
  change: ServerChange,
  { lists, uris, tasks }: Filter,
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

function texts(value: unknown): string[] {
  return Array.isArray(value)
    ? value.filter((item): item is string => typeof item === 'string')
    : []
}
