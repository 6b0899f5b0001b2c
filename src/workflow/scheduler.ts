/**
 * Runs flows concurrently on one engine. Flows continue in the order in which the engine reports
 * their operations as done, so that every replay takes the same path.
 */

import { compileSchema } from '../define/schema/compile.ts'
import { describeIssues } from '../define/schema/issues.ts'
import type { CompiledSchema } from '../define/schema/source.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { JsonSchema } from '../util/values.ts'
import type { DurableContext, OperationOutcome, PendingOperation, StepError } from './engine.ts'
import { ExecutionCancelledError } from './engine.ts'
import type { Flow, FlowCommand, FlowOutcome } from './steps/flow.ts'
import { FlowStoppedError } from './steps/flow.ts'

/**
 * Runs a flow to its end. Concurrent flows continue in the order in which the engine reports the
 * ends of their operations, so that every replay takes the same path. Rejects only when the engine
 * fails.
 */
export async function runFlow<Result>(
  flow: Flow<Result>,
  context: DurableContext,
): Promise<FlowOutcome<Result>> {
  const scheduler = new FlowScheduler(context)
  const root = createFiber(flow, false, () => undefined)
  scheduler.begin(root)
  while (!root.ended) await scheduler.turn(root)
  return root.ended as FlowOutcome<Result>
}

type Fiber = {
  readonly flow: Flow<unknown>
  readonly onEnd: (ended: FlowOutcome) => void
  /** Stops what it waits for. */
  stopWaiting: ((error: StepError) => void) | undefined
  /** Why it must end, until it has been stopped. */
  stopping: StepError | undefined
  /** It cleans up, and is not stopped again. */
  shielded: boolean
  ended: FlowOutcome | undefined
}

function createFiber(
  flow: Flow<unknown>,
  shielded: boolean,
  onEnd: (ended: FlowOutcome) => void,
): Fiber {
  return { flow, onEnd, stopWaiting: undefined, stopping: undefined, shielded, ended: undefined }
}

type PendingCheck = { readonly fiber: Fiber; readonly schema: JsonSchema; readonly value: unknown }

const SIBLING_FAILED: StepError = {
  code: 'CANCELLED',
  message: 'something beside it failed',
  retryable: false,
}
const NOT_NEEDED: StepError = {
  code: 'CANCELLED',
  message: 'it is not needed any more',
  retryable: false,
}

class FlowScheduler {
  private readonly context: DurableContext
  private readonly waiting = new Map<PendingOperation, (settled: OperationOutcome) => void>()
  private readonly checks: PendingCheck[] = []

  constructor(context: DurableContext) {
    this.context = context
  }

  begin(fiber: Fiber): void {
    this.resume(fiber, () => fiber.flow.next())
  }

  /** Waits for one thing to happen. */
  async turn(root: Fiber): Promise<void> {
    const check = this.checks.shift()
    if (!check && this.waiting.size === 0)
      throw new ToolError('INTERNAL', 'the workflow waits for nothing')
    if (check)
      return this.resumeWith(check.fiber, await checkWorkflowInput(check.schema, check.value))
    try {
      const { begun, settled } = await this.context.first([...this.waiting.keys()])
      const resolve = this.waiting.get(begun)
      this.waiting.delete(begun)
      resolve?.(settled)
    } catch (error) {
      if (!(error instanceof ExecutionCancelledError)) throw error
      this.stop(root, { code: 'CANCELLED', message: error.reason, retryable: false })
    }
  }

  private stop(fiber: Fiber, error: StepError): void {
    if (fiber.ended || fiber.shielded || fiber.stopping) return
    fiber.stopping = error
    fiber.stopWaiting?.(error)
  }

  /**
   * Resumes a flow with what it waited for. What succeeded before the flow was stopped still
   * counts.
   */
  private resumeWith(fiber: Fiber, value: unknown, succeeded = true): void {
    fiber.stopWaiting = undefined
    if (fiber.stopping && !succeeded) this.throwStop(fiber)
    else this.resume(fiber, () => fiber.flow.next(value))
  }

  private throwStop(fiber: Fiber): void {
    const error = fiber.stopping!
    fiber.stopping = undefined
    fiber.shielded = true
    this.resume(fiber, () => fiber.flow.throw(new FlowStoppedError(error)))
  }

  private resume(fiber: Fiber, next: () => IteratorResult<FlowCommand, unknown>): void {
    let result: IteratorResult<FlowCommand, unknown>
    try {
      result = next()
    } catch (thrown) {
      return this.end(fiber, { ok: false, thrown })
    }
    if (result.done) return this.end(fiber, { ok: true, value: result.value })
    if (fiber.stopping) return this.throwStop(fiber)
    this.execute(fiber, result.value)
  }

  private end(fiber: Fiber, ended: FlowOutcome): void {
    fiber.ended = ended
    fiber.onEnd(ended)
  }

  private execute(fiber: Fiber, command: FlowCommand): void {
    if (command.kind === 'operation') this.runOperation(fiber, command)
    else if (command.kind === 'all') this.runAll(fiber, command)
    else if (command.kind === 'within') this.runWithTimeout(fiber, command)
    else this.checks.push({ fiber, schema: command.schema, value: command.value })
  }

  private runOperation(fiber: Fiber, { operation }: FlowCommand & { kind: 'operation' }): void {
    const begun = this.context.begin(operation)
    fiber.stopWaiting = (error) => begun.abort(error)
    this.waiting.set(begun, (settled) => this.resumeWith(fiber, settled, settled.ok))
  }

  private runAll(
    fiber: Fiber,
    { flows, limit, stopEarly, shielded = fiber.shielded }: FlowCommand & { kind: 'all' },
  ): void {
    const endings: (FlowOutcome | undefined)[] = flows.map(() => undefined)
    const live = new Set<Fiber>()
    let next = 0
    // A flow that ends immediately would call `fill` recursively.
    let filling = false
    const halt = (error: StepError): void => {
      next = flows.length
      for (const one of [...live]) this.stop(one, error)
    }
    const start = (index: number): void => {
      const one = createFiber(flows[index]!, shielded, (ended) => {
        live.delete(one)
        endings[index] = ended
        if (!ended.ok && stopEarly) halt(SIBLING_FAILED)
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
        this.resumeWith(
          fiber,
          endings,
          endings.every((ended) => ended?.ok),
        )
    }
    fiber.stopWaiting = halt
    fill()
  }

  private runWithTimeout(
    fiber: Fiber,
    { key, seconds, flow }: FlowCommand & { kind: 'within' },
  ): void {
    const timer = this.context.begin({ kind: 'sleep', key, until: { seconds } })
    const child = createFiber(flow, fiber.shielded, (ended) => {
      this.waiting.delete(timer)
      timer.abort(NOT_NEEDED)
      this.resumeWith(fiber, ended, ended.ok)
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

// The same definition runs many times.
const compiledSchemas = new WeakMap<JsonSchema, CompiledSchema>()

/** Checks the input of a workflow, and gives it with its defaults. */
export async function checkWorkflowInput(
  schema: JsonSchema,
  value: unknown,
): Promise<OperationOutcome> {
  let made = compiledSchemas.get(schema)
  if (!made) compiledSchemas.set(schema, (made = compileSchema(schema, 'input')))
  const checked = await made.check(value)
  if (checked.ok) return checked
  return {
    ok: false,
    error: {
      code: 'INVALID_INPUT',
      message: describeIssues(checked.issues, 'the input of the workflow'),
      retryable: false,
    },
  }
}
