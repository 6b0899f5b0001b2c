/**
 * All calls of a server: those that run, those that wait for answers, and tasks.
 */

import { compact, isObject } from '../util/values.ts'
import type { McpCall } from './call.ts'
import type { McpExchange, RpcParams } from './protocol.ts'
import { RPC_CODES, RpcError } from './protocol.ts'
import type { StateSigner } from './request-state.ts'

/**
 * How long a modern client may take to answer, and how long a task is kept that is not looked at.
 */
const ANSWER_TIMEOUT_MS = 10 * 60_000
const TASK_TTL_MS = 60 * 60_000
const POLL_INTERVAL_MS = 500
const STATUS_DELAY_MS = 250
const MAX_KEPT_CALLS = 10_000

type SuspendedCall = {
  readonly call: McpCall
  readonly digest: string
  readonly timer: NodeJS.Timeout
}
type RequestStateModule = typeof import('./request-state.ts')

/** Hashes what a request is about, so that its state is good for that request only. */
export type RequestHasher = (module: RequestStateModule) => string

/**
 * The calls that run, and those that outlive their request: suspended between two rounds, or handed
 * out as tasks.
 */
export class McpCallRegistry {
  readonly #suspended = new Map<string, SuspendedCall>()
  readonly #ids = new WeakMap<McpCall, string>()
  readonly #tasks = new Map<string, McpTask>()
  readonly running = new Set<McpCall>()
  #signer: StateSigner | undefined

  /** @param onTask called when a task changes. */
  constructor(readonly onTask: (task: McpTask) => void) {}

  /** Sets a call aside until its answers come; gives the result that asks for them. */
  async suspend(call: McpCall, hash: RequestHasher): Promise<object> {
    const requestState = await import('./request-state.ts')
    const signer = (this.#signer ??= requestState.createStateSigner())
    const id = this.#ids.get(call) ?? requestState.createSecretId()
    this.#leave(call)
    this.#ids.set(call, id)
    call.round++
    const timer = setTimeout(() => {
      this.#suspended.delete(id)
      call.cancel('nobody answered in time')
    }, ANSWER_TIMEOUT_MS).unref()
    this.#suspended.set(id, { call, digest: hash(requestState), timer })
    return {
      resultType: 'input_required',
      inputRequests: call.listInputRequests(),
      requestState: signer.sign({
        call: id,
        round: call.round,
        expires: Date.now() + ANSWER_TIMEOUT_MS,
      }),
    }
  }

  /**
   * Takes up the call that a state names and hands it the answers. Throws RpcError for states and
   * answers that cannot be used.
   */
  async resume(params: RpcParams, exchange: McpExchange, hash: RequestHasher): Promise<McpCall> {
    const requestState = await import('./request-state.ts')
    const signer = (this.#signer ??= requestState.createStateSigner())
    const { requestState: state, inputResponses: answers } = params
    const { call: id, round } = signer.verify(state, Date.now())
    const found = this.#suspended.get(id)
    if (!found || found.call.round !== round)
      throw new RpcError(
        RPC_CODES.invalidParams,
        'the call that this requestState belongs to is over, or was answered already; make it again without the state',
      )
    if (found.digest !== hash(requestState))
      throw new RpcError(RPC_CODES.invalidParams, 'this requestState belongs to another request')
    if (answers !== undefined && !isObject(answers))
      throw new RpcError(RPC_CODES.invalidParams, 'inputResponses is an object')
    found.call.acceptAnswers(answers ?? {})
    clearTimeout(found.timer)
    this.#suspended.delete(id)
    found.call.attach(exchange)
    return found.call
  }

  /** Hands a call out as a task; gives the result that names it. */
  async toTask(call: McpCall): Promise<object> {
    const { createSecretId } = await import('./request-state.ts')
    this.#leave(call)
    const createdAt = Date.now()
    const task: McpTask = {
      id: createSecretId(),
      call,
      createdAt,
      updatedAt: createdAt,
      ttl: TASK_TTL_MS,
      pollInterval: POLL_INTERVAL_MS,
      watchers: 0,
      cancelled: false,
      ended: false,
      expiryTimer: undefined,
      statusTimer: undefined,
    }
    this.#tasks.set(task.id, task)
    this.#keep(task)
    call.onUpdate = (what) => (what === 'state' ? this.#report(task) : this.#reportSoon(task))
    // What became of it is asked for afterwards.
    return { resultType: 'task', status: 'working', ...describeTaskMetadata(task) }
  }

  /** The task of an id, which is kept longer by this look; throws RpcError when there is none. */
  task(id: unknown): McpTask {
    const task = typeof id === 'string' ? this.#tasks.get(id) : undefined
    if (!task)
      throw new RpcError(
        RPC_CODES.invalidParams,
        'there is no such task: it is unknown, or was kept no longer',
      )
    if (!task.call.outcome) this.#keep(task)
    return task
  }

  /** Keeps those tasks that exist until `stop` is called. */
  watch(ids: readonly string[]): { readonly ids: readonly string[]; stop(): void } {
    const tasks = [...new Set(ids)].flatMap((id) => this.#tasks.get(id) ?? [])
    for (const task of tasks) task.watchers++
    return {
      ids: tasks.map(({ id }) => id),
      stop() {
        for (const task of tasks) task.watchers--
      },
    }
  }

  cancel(task: McpTask): void {
    if (task.call.outcome || task.cancelled) return
    task.cancelled = true
    this.#report(task)
    task.call.cancel('the client cancelled the task')
  }

  /** Ends what no request waits for. */
  abandon(): void {
    for (const { call, timer } of this.#suspended.values()) {
      clearTimeout(timer)
      call.cancel('the server stops')
    }
    for (const task of [...this.#tasks.values()]) this.#forget(task, 'the server stops')
    this.#suspended.clear()
  }

  /** Ends everything that still runs. */
  close(): void {
    this.abandon()
    for (const call of [...this.running]) call.cancel('the server stops')
  }

  // From here on the call belongs to no request; one that cannot be kept is cancelled.
  #leave(call: McpCall): void {
    if (call.cancellation.aborted) throw new RpcError(RPC_CODES.internal, 'the call was cancelled')
    try {
      this.#makeRoom()
    } catch (error) {
      call.cancel('there is no room for it')
      throw error
    }
    call.detach()
  }

  #report(task: McpTask): void {
    if (task.ended) return
    clearTimeout(task.statusTimer)
    task.statusTimer = undefined
    task.updatedAt = Date.now()
    task.ended = task.cancelled || task.call.outcome !== undefined
    if (task.ended) this.#keep(task)
    this.onTask(task)
  }

  // Status messages may come by the thousand.
  #reportSoon(task: McpTask): void {
    if (!task.ended)
      task.statusTimer ??= setTimeout(() => this.#report(task), STATUS_DELAY_MS).unref()
  }

  #keep(task: McpTask): void {
    clearTimeout(task.expiryTimer)
    task.ttl = Date.now() - task.createdAt + TASK_TTL_MS
    task.expiryTimer = setTimeout(() => {
      if (task.watchers > 0 && !task.ended) this.#keep(task)
      else this.#forget(task, 'nobody asked for the task any more')
    }, TASK_TTL_MS).unref()
  }

  #forget(task: McpTask, reason: string): void {
    clearTimeout(task.expiryTimer)
    clearTimeout(task.statusTimer)
    this.#tasks.delete(task.id)
    if (!task.call.outcome) task.call.cancel(reason)
  }

  #makeRoom(): void {
    if (this.#suspended.size + this.#tasks.size < MAX_KEPT_CALLS) return
    for (const task of this.#tasks.values()) if (task.ended) return this.#forget(task, '')
    throw new RpcError(RPC_CODES.internal, 'too many calls wait for their clients; try again later')
  }
}

/** A call that its client follows by polling. */
export type McpTask = {
  readonly id: string
  readonly call: McpCall
  readonly createdAt: number
  updatedAt: number
  /** Milliseconds from its creation that it is kept; grows when it is looked at. */
  ttl: number
  readonly pollInterval: number
  /** Subscriptions to it. */
  watchers: number
  cancelled: boolean
  /** True when its last state was reported: nothing changes any more. */
  ended: boolean
  /** Forgets it. */
  expiryTimer: NodeJS.Timeout | undefined
  /** Reports a new status message. */
  statusTimer: NodeJS.Timeout | undefined
}

/** A task as `tasks/get` and `notifications/tasks` show it. */
export function describeTask(task: McpTask): object {
  return { ...describeTaskState(task), ...describeTaskMetadata(task) }
}

function describeTaskMetadata(task: McpTask): object {
  return {
    taskId: task.id,
    createdAt: new Date(task.createdAt).toISOString(),
    lastUpdatedAt: new Date(task.updatedAt).toISOString(),
    ttlMs: task.ttl,
    pollIntervalMs: task.pollInterval,
  }
}

// A tool that failed has completed with an error in its result; only faults of the protocol make a
// task fail.
function describeTaskState({ call, cancelled }: McpTask): object {
  const { outcome, status: statusMessage } = call
  if (cancelled) return { status: 'cancelled' }
  if (outcome && 'error' in outcome)
    return { status: 'failed', statusMessage: outcome.error.message, error: outcome.error }
  if (outcome) return compact({ status: 'completed', statusMessage, result: outcome.result })
  const inputRequests = call.waitsForAnswers ? call.listInputRequests() : undefined
  const status = inputRequests ? 'input_required' : 'working'
  return compact({ status, statusMessage, inputRequests })
}
