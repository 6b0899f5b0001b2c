import type { LiveCall } from './live-call.ts'

/** A call that its client follows by polling. */
export type Task = {
  readonly id: string
  readonly call: LiveCall
  readonly createdAt: number
  updatedAt: number
  /** Milliseconds from its creation that it is kept; grows while somebody looks at it. */
  ttl: number
  readonly pollInterval: number
  /** Subscriptions that wait for news of it. */
  watchers: number
  cancelled: boolean
  /** True when its last state was told: nothing changes any more. */
  ended: boolean
  /** Forgets it. */
  timer: NodeJS.Timeout | undefined
  /** Tells new words for what it is at. */
  words: NodeJS.Timeout | undefined
}

/** A task as `tasks/get` and `notifications/tasks` show it. */
export function describeTask(task: Task): object {
  return { ...describeState(task), ...facts(task) }
}

/** A new task as its client gets it: what became of it is asked for afterwards. */
export function describeHandle(task: Task): object {
  return { status: 'working', ...facts(task) }
}

function facts(task: Task): object {
  return {
    taskId: task.id,
    createdAt: new Date(task.createdAt).toISOString(),
    lastUpdatedAt: new Date(task.updatedAt).toISOString(),
    ttlMs: task.ttl,
    pollIntervalMs: task.pollInterval,
  }
}

// A tool that failed has completed with an error in its result; only faults of the protocol make a task fail.
function describeState({ call, cancelled }: Task): object {
  const { settled, status } = call
  const said = status === undefined ? {} : { statusMessage: status }
  if (cancelled) return { status: 'cancelled' }
  if (settled && 'error' in settled)
    return { status: 'failed', statusMessage: settled.error.message, error: settled.error }
  if (settled) return { status: 'completed', ...said, result: settled.result }
  if (call.waitsForAnswers)
    return { status: 'input_required', ...said, inputRequests: call.inputRequests() }
  return { status: 'working', ...said }
}
