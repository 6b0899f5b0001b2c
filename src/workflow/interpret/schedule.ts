import type { JsonSchema } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { Cancellation } from '../engines/engine-type.ts'
import type { Begun, DurableContext, Settled, StepError } from '../engines/engine-type.ts'
import { checkInput } from './check-input.ts'
import { Stopped } from './flow.ts'
import type { Ended, Flow, Wish } from './flow.ts'

/** Follows a flow to its end. Flows that go on at the same time take turns in the order in which the engine says that their operations ended, so that every replay takes the same way. Rejects only where the engine itself gives up. */
export async function schedule<Result>(
  flow: Flow<Result>,
  context: DurableContext,
): Promise<Ended<Result>> {
  const scheduler = new Scheduler(context)
  const root = newFiber(flow, false, () => undefined)
  scheduler.begin(root)
  while (!root.ended) await scheduler.turn(root)
  return root.ended as Ended<Result>
}

type Fiber = {
  readonly flow: Flow<unknown>
  readonly onEnd: (ended: Ended) => void
  /** What it waits for, so that it can be stopped. */
  stopWaiting: ((error: StepError) => void) | undefined
  /** Why it has to end, until it was told. */
  stopping: StepError | undefined
  /** It was told, or may not be stopped: it cleans up. */
  shielded: boolean
  ended: Ended | undefined
}

function newFiber(flow: Flow<unknown>, shielded: boolean, onEnd: (ended: Ended) => void): Fiber {
  return { flow, onEnd, stopWaiting: undefined, stopping: undefined, shielded, ended: undefined }
}

type WaitingCheck = { readonly fiber: Fiber; readonly schema: JsonSchema; readonly value: unknown }

const BESIDE: StepError = {
  code: 'CANCELLED',
  message: 'something beside it failed',
  retryable: false,
}
const UNNEEDED: StepError = {
  code: 'CANCELLED',
  message: 'it is not needed any more',
  retryable: false,
}

class Scheduler {
  private readonly context: DurableContext
  private readonly waiting = new Map<Begun, (settled: Settled) => void>()
  private readonly checks: WaitingCheck[] = []

  constructor(context: DurableContext) {
    this.context = context
  }

  begin(fiber: Fiber): void {
    this.resume(fiber, () => fiber.flow.next())
  }

  /** One thing happens. */
  async turn(root: Fiber): Promise<void> {
    const check = this.checks.shift()
    if (!check && this.waiting.size === 0)
      throw new ToolError('INTERNAL', 'the workflow waits for nothing')
    if (check) return this.go(check.fiber, await checkInput(check.schema, check.value))
    try {
      const { begun, settled } = await this.context.first([...this.waiting.keys()])
      const resolve = this.waiting.get(begun)
      this.waiting.delete(begun)
      resolve?.(settled)
    } catch (error) {
      if (!(error instanceof Cancellation)) throw error
      this.stop(root, { code: 'CANCELLED', message: error.reason, retryable: false })
    }
  }

  private stop(fiber: Fiber, error: StepError): void {
    if (fiber.ended || fiber.shielded || fiber.stopping) return
    fiber.stopping = error
    fiber.stopWaiting?.(error)
  }

  /** Gives a flow what it waited for. What succeeded before the flow was stopped is still its own. */
  private go(fiber: Fiber, value: unknown, succeeded = true): void {
    fiber.stopWaiting = undefined
    if (fiber.stopping && !succeeded) this.tellToStop(fiber)
    else this.resume(fiber, () => fiber.flow.next(value))
  }

  private tellToStop(fiber: Fiber): void {
    const error = fiber.stopping!
    fiber.stopping = undefined
    fiber.shielded = true
    this.resume(fiber, () => fiber.flow.throw(new Stopped(error)))
  }

  private resume(fiber: Fiber, next: () => IteratorResult<Wish, unknown>): void {
    let result: IteratorResult<Wish, unknown>
    try {
      result = next()
    } catch (thrown) {
      return this.end(fiber, { ok: false, thrown })
    }
    if (result.done) return this.end(fiber, { ok: true, value: result.value })
    if (fiber.stopping) return this.tellToStop(fiber)
    this.grant(fiber, result.value)
  }

  private end(fiber: Fiber, ended: Ended): void {
    fiber.ended = ended
    fiber.onEnd(ended)
  }

  private grant(fiber: Fiber, wish: Wish): void {
    if (wish.kind === 'operation') this.operate(fiber, wish)
    else if (wish.kind === 'all') this.followAll(fiber, wish)
    else if (wish.kind === 'within') this.followWithin(fiber, wish)
    else this.checks.push({ fiber, schema: wish.schema, value: wish.value })
  }

  private operate(fiber: Fiber, { operation }: Wish & { kind: 'operation' }): void {
    const begun = this.context.begin(operation)
    fiber.stopWaiting = (error) => begun.abort(error)
    this.waiting.set(begun, (settled) => this.go(fiber, settled, settled.ok))
  }

  private followAll(
    fiber: Fiber,
    { flows, limit, stopEarly, shielded = fiber.shielded }: Wish & { kind: 'all' },
  ): void {
    const endings: (Ended | undefined)[] = flows.map(() => undefined)
    const live = new Set<Fiber>()
    let next = 0
    // A flow that ends at once would fill from inside.
    let filling = false
    const halt = (error: StepError): void => {
      next = flows.length
      for (const one of [...live]) this.stop(one, error)
    }
    const start = (index: number): void => {
      const one = newFiber(flows[index]!, shielded, (ended) => {
        live.delete(one)
        endings[index] = ended
        if (!ended.ok && stopEarly) halt(BESIDE)
        fill()
      })
      live.add(one)
      this.begin(one)
    }
    const fill = (): void => {
      if (filling) return
      filling = true
      while (live.size < limit && next < flows.length) start(next++)
      filling = false
      if (live.size === 0)
        this.go(
          fiber,
          endings,
          endings.every((ended) => ended?.ok),
        )
    }
    fiber.stopWaiting = halt
    fill()
  }

  private followWithin(fiber: Fiber, { key, seconds, flow }: Wish & { kind: 'within' }): void {
    const timer = this.context.begin({ kind: 'sleep', key, until: { seconds } })
    const child = newFiber(flow, fiber.shielded, (ended) => {
      this.waiting.delete(timer)
      timer.abort(UNNEEDED)
      this.go(fiber, ended, ended.ok)
    })
    this.waiting.set(timer, () =>
      this.stop(child, {
        code: 'TIMEOUT',
        message: `it took longer than ${seconds} seconds`,
        retryable: false,
      }),
    )
    fiber.stopWaiting = (error) => this.stop(child, error)
    this.begin(child)
  }
}
