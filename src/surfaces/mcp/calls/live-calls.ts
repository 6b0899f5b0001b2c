import { isObject } from '../../../contract/json.ts'
import type { Exchange } from '../exchange.ts'
import type { Params } from '../wire/messages.ts'
import { RPC, RpcError } from '../wire/messages.ts'
import { LiveCall } from './live-call.ts'
import type { Settled } from './live-call.ts'
import type { StateSigner } from './request-state.ts'
import { describeHandle } from './task.ts'
import type { Task } from './task.ts'

/** How long a modern client may take to answer, and how long a task is kept that nobody looks at. */
const ANSWER_MS = 10 * 60_000
const TASK_MS = 60 * 60_000
const POLL_MS = 500
const WORDS_MS = 250
const MOST_KEPT = 10_000

type Suspended = {
  readonly call: LiveCall
  readonly digest: string
  readonly timer: NodeJS.Timeout
}
type Crypto = typeof import('./request-state.ts')

/** The calls that run, and those that outlive their request: suspended between two rounds, or handed out as tasks. */
export class LiveCalls {
  readonly #suspended = new Map<string, Suspended>()
  readonly #ids = new WeakMap<LiveCall, string>()
  readonly #tasks = new Map<string, Task>()
  readonly #running = new Set<LiveCall>()
  #signer: StateSigner | undefined

  /** @param onTask told when a task changes. */
  constructor(
    readonly now: () => number,
    readonly onTask: (task: Task) => void,
  ) {}

  /** Begins a call. */
  start(exchange: Exchange, params: Params, work: (call: LiveCall) => Promise<Settled>): LiveCall {
    return new LiveCall(exchange, params, async (call) => {
      this.#running.add(call)
      try {
        return await work(call)
      } finally {
        this.#running.delete(call)
      }
    })
  }

  /** Sets a call aside until its answers come; gives the result that asks for them. */
  async suspend(call: LiveCall, digest: (crypto: Crypto) => string): Promise<object> {
    const crypto = await import('./request-state.ts')
    const signer = (this.#signer ??= crypto.createStateSigner())
    const id = this.#ids.get(call) ?? crypto.unguessableId()
    this.#leave(call)
    this.#ids.set(call, id)
    call.round++
    const timer = setTimeout(() => {
      this.#suspended.delete(id)
      call.cancel('nobody answered in time')
    }, ANSWER_MS).unref()
    this.#suspended.set(id, { call, digest: digest(crypto), timer })
    return {
      resultType: 'input_required',
      inputRequests: call.inputRequests(),
      requestState: signer.sign({ call: id, round: call.round, expires: this.now() + ANSWER_MS }),
    }
  }

  /** Takes up the call that a state names and hands it the answers. Throws RpcError for states and answers that cannot be used. */
  async resume(
    params: Params,
    exchange: Exchange,
    digest: (crypto: Crypto) => string,
  ): Promise<LiveCall> {
    const crypto = await import('./request-state.ts')
    const signer = (this.#signer ??= crypto.createStateSigner())
    const { requestState: state, inputResponses: answers } = params
    const { call: id, round } = signer.verify(state, this.now())
    const found = this.#suspended.get(id)
    if (!found || found.call.round !== round)
      throw new RpcError(
        RPC.invalidParams,
        'the call that this requestState belongs to is over, or was answered already; make it again without the state',
      )
    if (found.digest !== digest(crypto))
      throw new RpcError(RPC.invalidParams, 'this requestState belongs to another request')
    if (answers !== undefined && !isObject(answers))
      throw new RpcError(RPC.invalidParams, 'inputResponses is an object')
    found.call.give(answers ?? {})
    clearTimeout(found.timer)
    this.#suspended.delete(id)
    found.call.attach(exchange, params)
    return found.call
  }

  /** Hands a call out as a task; gives the result that names it. */
  async toTask(call: LiveCall): Promise<object> {
    const { unguessableId } = await import('./request-state.ts')
    this.#leave(call)
    const createdAt = this.now()
    const task: Task = {
      id: unguessableId(),
      call,
      createdAt,
      updatedAt: createdAt,
      ttl: TASK_MS,
      pollInterval: POLL_MS,
      watchers: 0,
      cancelled: false,
      ended: false,
      timer: undefined,
      words: undefined,
    }
    this.#tasks.set(task.id, task)
    this.#keep(task)
    call.onUpdate = (what) => (what === 'state' ? this.#tell(task) : this.#tellSoon(task))
    return { resultType: 'task', ...describeHandle(task) }
  }

  /** The task of an id, which is kept because somebody looks at it; throws RpcError when there is none. */
  task(id: unknown): Task {
    const task = typeof id === 'string' ? this.#tasks.get(id) : undefined
    if (!task)
      throw new RpcError(
        RPC.invalidParams,
        'there is no such task: it is unknown, or was kept no longer',
      )
    if (!task.call.settled) this.#keep(task)
    return task
  }

  /** Keeps the tasks that there are of these as long as somebody watches them; gives their ids, and the function that ends it. */
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

  /** Answers questions of a task. */
  update(task: Task, answers: Params): void {
    task.call.give(answers)
  }

  cancel(task: Task): void {
    if (task.call.settled || task.cancelled) return
    task.cancelled = true
    this.#tell(task)
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
    for (const call of [...this.#running]) call.cancel('the server stops')
  }

  // From here on the call belongs to nobody's request; one that cannot be kept is ended.
  #leave(call: LiveCall): void {
    if (call.cancellation.aborted) throw new RpcError(RPC.internal, 'the call was cancelled')
    try {
      this.#makeRoom()
    } catch (error) {
      call.cancel('there is no room for it')
      throw error
    }
    call.detach()
  }

  #tell(task: Task): void {
    if (task.ended) return
    clearTimeout(task.words)
    task.words = undefined
    task.updatedAt = this.now()
    task.ended = task.cancelled || task.call.settled !== undefined
    if (task.ended) this.#keep(task)
    this.onTask(task)
  }

  // Words may come by the thousand.
  #tellSoon(task: Task): void {
    if (!task.ended) task.words ??= setTimeout(() => this.#tell(task), WORDS_MS).unref()
  }

  #keep(task: Task): void {
    clearTimeout(task.timer)
    task.ttl = this.now() - task.createdAt + TASK_MS
    task.timer = setTimeout(() => {
      if (task.watchers > 0 && !task.ended) this.#keep(task)
      else this.#forget(task, 'nobody asked for the task any more')
    }, TASK_MS).unref()
  }

  #forget(task: Task, reason: string): void {
    clearTimeout(task.timer)
    clearTimeout(task.words)
    this.#tasks.delete(task.id)
    if (!task.call.settled) task.call.cancel(reason)
  }

  #makeRoom(): void {
    if (this.#suspended.size + this.#tasks.size < MOST_KEPT) return
    for (const task of this.#tasks.values()) if (task.ended) return this.#forget(task, '')
    throw new RpcError(RPC.internal, 'too many calls wait for their clients; try again later')
  }
}
