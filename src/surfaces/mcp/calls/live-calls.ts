import type { Exchange } from '../exchange.ts'
import type { Params } from '../wire/messages.ts'
import { RPC, RpcError } from '../wire/messages.ts'
import { isObject } from '../../../contract/json.ts'
import type { LiveCall } from './live-call.ts'
import type { StateSigner } from './request-state.ts'
import { describeHandle } from './task.ts'
import type { Task } from './task.ts'

/** How long a modern client may take to answer, and how long a task can be read after it was made. */
const ANSWER_MS = 10 * 60_000
const TASK_MS = 60 * 60_000
const POLL_MS = 500
const MOST_KEPT = 10_000

type Suspended = { readonly call: LiveCall; readonly digest: string; readonly timer: NodeJS.Timeout }
type Crypto = typeof import('./request-state.ts')

/** The calls that outlive their request: suspended between two rounds, or handed out as tasks. */
export class LiveCalls {
  readonly #suspended = new Map<string, Suspended>()
  readonly #ids = new WeakMap<LiveCall, string>()
  readonly #tasks = new Map<string, Task>()
  readonly #running = new Set<LiveCall>()
  #signer: StateSigner | undefined

  /** @param onTask told when a task changes. */
  constructor(readonly now: () => number, readonly onTask: (task: Task) => void) {}

  /** Remembers a call while it runs, so that `close` reaches it. */
  begin(call: LiveCall): void {
    this.#running.add(call)
  }

  end(call: LiveCall): void {
    this.#running.delete(call)
  }

  /** Sets a call aside until its answers come; gives the result that asks for them. */
  async suspend(call: LiveCall, digest: (crypto: Crypto) => string): Promise<object> {
    const crypto = await import('./request-state.ts')
    const signer = (this.#signer ??= crypto.createStateSigner())
    const id = this.#ids.get(call) ?? crypto.unguessableId()
    this.#ids.set(call, id)
    call.detach()
    call.round++
    this.#makeRoom()
    const timer = setTimeout(() => {
      this.#suspended.delete(id)
      call.cancel('nobody answered in time')
    }, ANSWER_MS).unref()
    this.#suspended.set(id, { call, digest: digest(crypto), timer })
    return { resultType: 'input_required', inputRequests: call.inputRequests(), requestState: signer.sign({ call: id, round: call.round, expires: this.now() + ANSWER_MS }) }
  }

  /** Takes up the call that a state names and hands it the answers. Throws RpcError for states and answers that cannot be used. */
  async resume(state: unknown, answers: unknown, exchange: Exchange, digest: (crypto: Crypto) => string): Promise<LiveCall> {
    const crypto = await import('./request-state.ts')
    const signer = (this.#signer ??= crypto.createStateSigner())
    const { call: id, round } = signer.verify(state, this.now())
    const found = this.#suspended.get(id)
    if (!found || found.call.round !== round) throw new RpcError(RPC.invalidParams, 'the call that this requestState belongs to is over, or was answered already; make it again without the state')
    if (found.digest !== digest(crypto)) throw new RpcError(RPC.invalidParams, 'this requestState belongs to another request')
    if (answers !== undefined && !isObject(answers)) throw new RpcError(RPC.invalidParams, 'inputResponses is an object')
    found.call.give(answers ?? {})
    clearTimeout(found.timer)
    this.#suspended.delete(id)
    found.call.attach(exchange)
    return found.call
  }

  /** Hands a call out as a task; gives the result that names it. */
  async toTask(call: LiveCall): Promise<object> {
    const { unguessableId } = await import('./request-state.ts')
    const id = unguessableId()
    const createdAt = this.now()
    const task: Task = { id, call, createdAt, updatedAt: createdAt, ttl: TASK_MS, pollInterval: POLL_MS, cancelled: false }
    call.detach()
    this.#makeRoom()
    this.#tasks.set(id, task)
    setTimeout(() => this.#forget(task), TASK_MS).unref()
    call.onUpdate = () => this.#touch(task)
    return { resultType: 'task', ...describeHandle(task) }
  }

  /** The task of an id; throws RpcError when there is none. */
  task(id: unknown): Task {
    const task = typeof id === 'string' ? this.#tasks.get(id) : undefined
    if (!task) throw new RpcError(RPC.invalidParams, 'there is no such task: it is unknown, or was kept no longer')
    return task
  }

  hasTask(id: string): boolean {
    return this.#tasks.has(id)
  }

  /** Answers questions of a task. */
  update(task: Task, answers: Params): void {
    task.call.give(answers)
  }

  cancel(task: Task): void {
    if (task.call.settled) return
    task.cancelled = true
    task.call.cancel('the client cancelled the task')
    this.#touch(task)
  }

  /** Ends everything that still runs. */
  close(): void {
    for (const { call, timer } of this.#suspended.values()) {
      clearTimeout(timer)
      call.cancel('the server stops')
    }
    for (const call of this.#running) call.cancel('the server stops')
    this.#suspended.clear()
    this.#tasks.clear()
  }

  #touch(task: Task): void {
    task.updatedAt = this.now()
    this.onTask(task)
  }

  #forget(task: Task): void {
    this.#tasks.delete(task.id)
    if (!task.call.settled) task.call.cancel('the task was kept no longer')
  }

  #makeRoom(): void {
    if (this.#suspended.size + this.#tasks.size < MOST_KEPT) return
    const finished = [...this.#tasks.values()].find(({ call }) => call.settled)
    if (finished) return this.#forget(finished)
    throw new RpcError(RPC.internal, 'too many calls wait for their clients; try again later')
  }
}
