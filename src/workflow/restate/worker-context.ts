/**
 * The durable context on Restate, and the state it publishes for watchers.
 */

import { ToolError } from '../../protocol/tool-error.ts'
import { compact } from '../../util/values.ts'
import type {
  DurableContext,
  DurableOperation,
  OperationOutcome,
  PendingOperation,
  StepError,
  WorkflowQuestion,
} from '../engine.ts'
import { ExecutionCancelledError } from '../engine.ts'
import type { RestateContext, RestateFailure, RestatePromise, RestateSdk } from './sdk.ts'
import type { RestateAnswer, RestateStepRequest, TaskRecord } from './wire.ts'
import { CANCEL_PROMISE, STATE_KEYS, STEP_SERVICE } from './wire.ts'

type RestateOperation = PendingOperation & {
  launched?: LaunchedOperation
  error?: StepError
  isToldToEnd?: boolean
}
type EndedOperation = { readonly own: RestateOperation; readonly settled: OperationOutcome }

/**
 * The durable context on Restate. Every wait is one race of recorded promises: anything else would
 * take another path in a replay.
 */
export function createRestateContext(sdk: RestateSdk, context: RestateContext): DurableContext {
  const tasks = new TaskStore(context)
  const cancelPromise = context.promise<string>(CANCEL_PROMISE).get()
  let isCancelled = false

  // A cancellation through the interface of the server breaks every await, once per request.
  let isCancelledByServer = false
  const awaitDespiteCancel = async <Value>(wanted: RestatePromise<Value>): Promise<Value> => {
    for (;;) {
      try {
        return await wanted.map(passThrough)
      } catch (error) {
        if (!(error instanceof sdk.CancelledError)) throw error
        isCancelledByServer = true
      }
    }
  }

  const cancelled = (reason: string): never => {
    isCancelled = true
    throw new ExecutionCancelledError(reason)
  }

  const race = async (operations: readonly RestateOperation[]): Promise<EndedOperation> => {
    for (;;) {
      if (isCancelledByServer && !isCancelled) cancelled('cancelled at the Restate server')
      const ends: RestatePromise<EndedOperation | string>[] = operations.map((own) =>
        own.launched!.settled.map((settled) => ({ own, settled: settled! })),
      )
      try {
        const ended = await sdk.RestatePromise.race(
          isCancelled ? ends : [...ends, cancelPromise.map((reason) => reason ?? '')],
        )
        if (typeof ended !== 'string') return ended
        cancelled(ended)
      } catch (error) {
        if (!(error instanceof sdk.CancelledError)) throw error
        isCancelledByServer = true
      }
    }
  }

  return {
    id: context.key,
    begin: (operation) => {
      const own: RestateOperation = { operation, abort: (error) => void (own.error ??= error) }
      return own
    },
    async first(begun) {
      const operations = begun as readonly RestateOperation[]
      for (const own of operations) {
        if (own.launched || own.error) continue
        own.launched = await launchOperation(own.operation, { sdk, context, awaitDespiteCancel })
        tasks.begin(own.operation)
      }
      // An operation that waits in the engine ends immediately; a tool ends when its worker has
      // ended it.
      const ended = operations.find(({ error, launched }) => error && !launched?.end)
      if (ended) return { begun: ended, settled: settle(ended, { ok: false, error: ended.error! }) }
      for (const own of operations) {
        if (!own.error || own.isToldToEnd) continue
        own.isToldToEnd = true
        context.cancel(await awaitDespiteCancel(own.launched!.end!))
      }
      const { own, settled } = await race(operations)
      return { begun: own, settled: settle(own, settled) }
    },
  }

  function settle(own: RestateOperation, settled: OperationOutcome): OperationOutcome {
    const known =
      !settled.ok && own.error && settled.error.code === 'CANCELLED'
        ? {
            ok: false as const,
            error: { ...own.error, ...compact({ run_id: settled.error.run_id }) },
          }
        : settled
    tasks.end(own.operation, known)
    return known
  }
}

// A promise that a cancellation broke stays broken, but another one of the same event does not.
const passThrough = <Value>(value?: Value, failure?: Error): Value => {
  if (failure) throw failure
  return value as Value
}

/** An operation that the engine has accepted. */
type LaunchedOperation = {
  readonly settled: RestatePromise<OperationOutcome>
  /** The invocation to cancel, if there is one. */
  readonly end?: RestatePromise<string>
}

type LaunchContext = {
  readonly sdk: RestateSdk
  readonly context: RestateContext
  /** Waits despite cancellations. */
  readonly awaitDespiteCancel: <Value>(wanted: RestatePromise<Value>) => Promise<Value>
}

/** Hands an operation to the engine. */
async function launchOperation(
  operation: DurableOperation,
  { sdk, context, awaitDespiteCancel }: LaunchContext,
): Promise<LaunchedOperation> {
  switch (operation.kind) {
    case 'tool': {
      // A tool is a separate call: any free worker gets it, and the workflow needs no memory while
      // it runs.
      const call = context.genericCall<RestateStepRequest, OperationOutcome>({
        service: STEP_SERVICE,
        method: 'perform',
        parameter: { ...operation.call, workflow: context.key },
        inputSerde: sdk.serde.json,
        outputSerde: sdk.serde.json,
        name: operation.key,
      })
      return {
        settled: call.map((settled, failure) => settled ?? toLostOutcome(failure)),
        end: call.invocationId,
      }
    }
    case 'answer':
      return {
        settled: context
          .promise<RestateAnswer>(operation.question.id)
          .get()
          .map((answer) => ({ ok: true, value: answer?.value })),
      }
    case 'sleep': {
      const { until } = operation
      const milliseconds =
        'seconds' in until
          ? until.seconds * 1000
          : Date.parse(until.time) - (await awaitDespiteCancel(context.date.now()))
      return {
        settled: context
          .sleep(Math.max(0, Math.round(milliseconds)), operation.key)
          .map(() => ({ ok: true, value: null })),
      }
    }
  }
}

// A step always replies with a value, so this comes from the server: the call itself was cancelled
// or killed.
function toLostOutcome(failure: RestateFailure | undefined): OperationOutcome {
  const isCancelled = failure?.code === 409
  const { code, message, retryable } = new ToolError(
    isCancelled ? 'CANCELLED' : 'DEPENDENCY',
    `the Restate server gave up the step: ${failure?.message ?? 'it says nothing more'}`,
    isCancelled ? {} : { retryable: false },
  )
  return { ok: false, error: { code, message, retryable } }
}

/** Publishes what an execution asks and does. It decides nothing. */
class TaskStore {
  private readonly open = new Map<string, WorkflowQuestion>()
  private changes = 0

  constructor(private readonly context: RestateContext) {}

  begin(operation: DurableOperation): void {
    if (operation.kind === 'answer') {
      this.open.set(operation.question.id, operation.question)
      this.storeQuestions()
    }
    if (operation.kind === 'tool')
      this.storeTask({ task: operation.key, call: operation.call, status: 'running' })
  }

  /** It ended, or is not waited for any more. */
  end(operation: DurableOperation, settled: OperationOutcome): void {
    if (operation.kind === 'answer' && this.open.delete(operation.question.id))
      this.storeQuestions()
    if (operation.kind !== 'tool') return
    const { key: task, call } = operation
    if (settled.ok) this.storeTask(compact({ task, call, status: 'ok', run_id: settled.run_id }))
    else {
      const { error } = settled
      this.storeTask(compact({ task, call, status: 'failed', error, run_id: error.run_id }))
    }
  }

  private storeQuestions(): void {
    this.context.set(STATE_KEYS.questions, [...this.open.values()])
  }

  private storeTask(task: Omit<TaskRecord, 'change'>): void {
    this.changes += 1
    const record: TaskRecord = { ...task, change: this.changes }
    this.context.set(`${STATE_KEYS.task}${task.task}`, record)
  }
}
