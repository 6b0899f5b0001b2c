/**
 * The durable context on a journal: outcomes on record are replayed in their order, everything else
 * is started once its preconditions are on disk.
 */

import { getEventListeners } from 'node:events'
import { crashPoint } from '../../process/host.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { MAX_TIMER_MS, MINUTE_MS } from '../../util/units.ts'
import { compact } from '../../util/values.ts'
import type {
  DurableContext,
  DurableOperation,
  OperationOutcome,
  PendingOperation,
  PerformTool,
  StepError,
  WorkflowEvent,
  WorkflowQuestion,
} from '../engine.ts'
import { ExecutionCancelledError, stepErrorToToolError, toStepError } from '../engine.ts'
import type { JournalRecord } from './journal-records.ts'
import { getDoneOutcome, serializeDone, stringifyOrThrow } from './journal-records.ts'
import type { Journal } from './journal.ts'

/**
 * Waits for the answer to a question. Rejects when no answer will come in this process: the
 * question stays open, and the execution stops when nothing else of it can continue.
 */
export type AskQuestion = (
  question: WorkflowQuestion,
  signal: AbortSignal,
) => Promise<{ readonly value: unknown; readonly by?: string }>

export type DurableExecutionOptions = {
  readonly id: string
  /** The records on disk; those of other executions are ignored. */
  readonly records: readonly JournalRecord[]
  readonly journal: Pick<Journal, 'append' | 'appendLine' | 'whenSynced'>
  readonly perform: PerformTool
  readonly ask: AskQuestion
  /** The wall clock in milliseconds. */
  readonly now: () => number
  /** Receives what happens; `again` if it had happened before the restart. */
  readonly onEvent?: (event: WorkflowEvent, again: boolean) => void
}

/** One execution on a journal. */
export type DurableExecution = {
  readonly context: DurableContext
  /** Makes the pending or next `first` reject with an ExecutionCancelledError, once. */
  cancel(reason: string): void
  /** Open questions. */
  readonly questions: readonly WorkflowQuestion[]
  /**
   * Aborts what was launched, records nothing more, and makes `first` reject with this error: the
   * host ends, or its journal was lost.
   */
  stop(error: ToolError): void
}

/**
 * Creates the context of an execution from its records: recorded outcomes are replayed in the same
 * order, and everything else is launched when all records are on the disk.
 */
export function createDurableExecution(options: DurableExecutionOptions): DurableExecution {
  return new JournaledExecution(options)
}

type FirstWaiter = {
  readonly begun: readonly StartedOperation[]
  readonly resolve: (first: {
    readonly begun: PendingOperation
    readonly settled: OperationOutcome
  }) => void
  readonly reject: (error: Error) => void
}

/** An operation that has begun. */
class StartedOperation implements PendingOperation {
  /** The place of its end in the order of all records; 0 before it has ended. */
  position = 0
  settled: OperationOutcome | undefined
  /** Aborts it, once it is launched. */
  end: ((error: StepError) => void) | undefined
  aborted: StepError | undefined
  /** Why no answer will come. */
  unanswered: ToolError | undefined
  constructor(
    readonly operation: DurableOperation,
    private readonly execution: JournaledExecution,
  ) {}
  abort(error: StepError): void {
    this.execution.abort(this, error)
  }
}

// Controllers without listeners: creating one costs as much as the rest of a step.
const spareControllers: AbortController[] = []
const MAX_SPARE_CONTROLLERS = 100

class JournaledExecution implements DurableExecution, DurableContext {
  readonly id: string
  readonly context: DurableContext = this
  private readonly ends = new Map<
    string,
    { readonly position: number; readonly settled: OperationOutcome }
  >()
  private readonly pauses = new Map<string, string>()
  private readonly asked = new Map<string, WorkflowQuestion>()
  private readonly launched = new Set<StartedOperation>()
  /** How many ends, including the cancellation, are recorded. */
  private count = 0
  private readonly before: number
  private delivered = 0
  private cancelled:
    { readonly position: number; readonly reason: string; delivered: boolean } | undefined
  /**
   * The position of the last record; undefined if unknown, and then the whole journal is waited
   * for.
   */
  private last: number | undefined
  private waiting: FirstWaiter | undefined
  private lost: ToolError | undefined

  constructor(private readonly options: DurableExecutionOptions) {
    this.id = options.id
    for (const record of options.records) this.read(record)
    this.before = this.count
  }

  get questions(): readonly WorkflowQuestion[] {
    return [...this.asked.values()]
  }

  begin(operation: DurableOperation): PendingOperation {
    const started = new StartedOperation(operation, this)
    const end = this.ends.get(operation.key)
    if (end) {
      started.position = end.position
      started.settled = end.settled
    }
    return started
  }

  first(
    begun: readonly PendingOperation[],
  ): Promise<{ readonly begun: PendingOperation; readonly settled: OperationOutcome }> {
    if (this.lost) return Promise.reject(this.lost)
    let next: StartedOperation | undefined
    for (const one of begun as readonly StartedOperation[])
      if (one.position !== 0 && (next === undefined || one.position < next.position)) next = one
    const { cancelled } = this
    if (
      cancelled &&
      !cancelled.delivered &&
      (next === undefined || cancelled.position < next.position)
    )
      return Promise.reject(this.deliverCancellation(cancelled))
    if (next) {
      this.delivered += 1
      return Promise.resolve({ begun: next, settled: next.settled! })
    }
    if (begun.length === 0)
      return Promise.reject(new ToolError('INTERNAL', `${this.id} waits for nothing`))
    return new Promise((resolve, reject) => {
      const waiting: FirstWaiter = { begun: begun as readonly StartedOperation[], resolve, reject }
      this.waiting = waiting
      this.launch(waiting)
    })
  }

  emit(event: WorkflowEvent): void {
    this.options.onEvent?.(event, this.delivered < this.before)
  }

  cancel(reason: string): void {
    if (this.cancelled || this.lost) return
    this.count += 1
    this.cancelled = { position: this.count, reason, delivered: false }
    this.last = this.options.journal.append({ t: 'cancel', w: this.id, reason })
    const { waiting } = this
    this.waiting = undefined
    waiting?.reject(this.deliverCancellation(this.cancelled))
  }

  stop(error: ToolError): void {
    if (this.lost) return
    this.lost = error
    const { waiting } = this
    this.waiting = undefined
    for (const one of this.launched) one.end?.(toStepError(error))
    this.launched.clear()
    waiting?.reject(error)
  }

  abort(one: StartedOperation, error: StepError): void {
    if (one.position !== 0 || one.aborted) return
    one.aborted = error
    one.end?.(error)
    // An operation that is not waited for ends silently: a timer that is not needed any more leaves
    // no record.
    if (one.operation.kind !== 'tool' || !one.end || one.unanswered) this.giveUp(one)
  }

  private giveUp(one: StartedOperation): void {
    this.launched.delete(one)
    one.end = undefined
    if (this.waiting?.begun.includes(one)) this.settle(one, { ok: false, error: one.aborted! })
    else if (one.operation.kind === 'answer') this.asked.delete(one.operation.key)
  }

  private deliverCancellation(cancelled: {
    readonly reason: string
    delivered: boolean
  }): ExecutionCancelledError {
    cancelled.delivered = true
    this.delivered += 1
    return new ExecutionCancelledError(cancelled.reason)
  }

  private read(record: JournalRecord): void {
    if (record.t === 'define' || record.w !== this.id) return
    if (record.t === 'done') {
      this.asked.delete(record.k)
      // A second end of the same operation cannot be ours, and changes nothing.
      if (!this.ends.has(record.k))
        this.ends.set(record.k, { position: ++this.count, settled: getDoneOutcome(record) })
    } else if (record.t === 'cancel')
      this.cancelled ??= { position: ++this.count, reason: record.reason, delivered: false }
    else if (record.t === 'sleep') this.pauses.set(record.k, record.until)
    else if (record.t === 'ask') this.asked.set(record.k, record.q)
  }

  // What a restart needs is written before anything waits, so that it goes to the disk together
  // with earlier records.
  private launch(waiting: FirstWaiter): void {
    let isNew = false
    for (const one of waiting.begun) {
      if (one.end) continue
      if (one.aborted) return this.giveUp(one)
      isNew = true
      this.prepare(one)
      if (this.waiting !== waiting) return
    }
    if (!isNew) return this.giveUpUnanswered()
    this.options.journal.whenSynced(this.last, (lost) => {
      if (lost) return this.stop(lost)
      // It was cancelled meanwhile, or an operation ended: the next `first` asks again for what is
      // still needed.
      for (const one of waiting.begun)
        if (this.waiting === waiting && !one.end && one.position === 0) this.start(one)
    })
  }

  private prepare(one: StartedOperation): void {
    const { operation } = one
    try {
      if (operation.kind === 'sleep' && !this.pauses.has(operation.key)) {
        const until = getSleepEnd(operation.until, this.options.now())
        this.pauses.set(operation.key, until)
        this.last = this.options.journal.append({ t: 'sleep', w: this.id, k: operation.key, until })
      } else if (operation.kind === 'answer' && !this.asked.has(operation.key)) {
        this.asked.set(operation.key, operation.question)
        this.last = this.options.journal.append({
          t: 'ask',
          w: this.id,
          k: operation.key,
          q: operation.question,
        })
      }
    } catch (error) {
      this.settle(one, { ok: false, error: toStepError(error) })
    }
  }

  private start(one: StartedOperation): void {
    const { operation } = one
    this.launched.add(one)
    if (operation.kind === 'sleep') {
      const forget = startSleepTimer(
        operation.until,
        this.pauses.get(operation.key)!,
        this.options.now,
        () => this.settle(one, { ok: true, value: null }),
      )
      one.end = forget
    } else if (operation.kind === 'answer') this.ask(one, operation.question)
    else this.perform(one, operation)
  }

  private ask(one: StartedOperation, question: WorkflowQuestion): void {
    const controller = new AbortController()
    one.end = (error) => controller.abort(stepErrorToToolError(error))
    void tryAsync(() => this.options.ask(question, controller.signal)).then(
      ({ value, by }) => {
        if (!one.aborted) this.settle(one, { ok: true, value }, by)
      },
      (error: unknown) =>
        this.leaveUnanswered(
          one,
          ToolError.is(error) ? error : new ToolError('INTERNAL', String(error), { cause: error }),
        ),
    )
  }

  private leaveUnanswered(one: StartedOperation, error: ToolError): void {
    one.unanswered = error
    this.giveUpUnanswered()
  }

  // Everything that does not need the answer continues first; a timeout is not something that
  // continues.
  private giveUpUnanswered(): void {
    if (!this.waiting) return
    let why: ToolError | undefined
    for (const one of this.launched) {
      if (one.operation.kind === 'sleep' && one.operation.key.endsWith('~timeout')) continue
      if (!one.unanswered) return
      why ??= one.unanswered
    }
    if (why) this.stop(why)
  }

  private perform(
    one: StartedOperation,
    { call }: Extract<DurableOperation, { readonly kind: 'tool' }>,
  ): void {
    const controller = spareControllers.pop() ?? new AbortController()
    // It settles by itself with its outcome: only the tool knows whether it has done its work.
    one.end = (error) => controller.abort(stepErrorToToolError(error))
    void tryAsync(() =>
      this.options.perform(
        { ...call, workflow: this.id, idempotencyKey: `${this.id}/${call.step}` },
        controller.signal,
      ),
    ).then(
      (settled) => {
        crashPoint('step.performed')
        if (
          !controller.signal.aborted &&
          spareControllers.length < MAX_SPARE_CONTROLLERS &&
          getEventListeners(controller.signal, 'abort').length === 0
        )
          spareControllers.push(controller)
        this.settle(
          one,
          !settled.ok && one.aborted && settled.error.code === 'CANCELLED'
            ? { ok: false, error: { ...one.aborted, ...compact({ run_id: settled.error.run_id }) } }
            : settled,
        )
      },
      // The question of the tool has no answer: it is asked again after a resume, like every
      // question.
      (error: unknown) =>
        ToolError.is(error) && error.code === 'ANSWER_REQUIRED' && !one.aborted
          ? this.leaveUnanswered(one, error)
          : this.settle(one, { ok: false, error: toStepError(error) }),
    )
  }

  private settle(one: StartedOperation, given: OperationOutcome, by?: string): void {
    if (one.position !== 0 || this.lost) return
    const { key } = one.operation
    let kept: KeptOutcome
    try {
      kept = toKeptOutcome(this.id, key, given, by)
    } catch (error) {
      kept = toKeptOutcome(this.id, key, { ok: false, error: toStepError(error) })
    }
    this.launched.delete(one)
    this.asked.delete(key)
    this.count += 1
    one.position = this.count
    one.settled = kept.settled
    this.last = this.options.journal.appendLine(kept.line)
    const { waiting } = this
    if (!waiting?.begun.includes(one)) return
    this.waiting = undefined
    this.delivered += 1
    waiting.resolve({ begun: one, settled: kept.settled })
  }
}

type KeptOutcome = { readonly line: string; readonly settled: OperationOutcome }

// The interpreter gets the same value as after a restart: a date becomes a text, and later changes
// by the tool have no effect.
function toKeptOutcome(id: string, key: string, given: OperationOutcome, by?: string): KeptOutcome {
  if (!given.ok) {
    const error = JSON.parse(stringifyOrThrow(given.error)!) as StepError
    return {
      line: serializeDone(id, key, { ok: false, error }, undefined),
      settled: { ok: false, error },
    }
  }
  const text = stringifyOrThrow(given.value) ?? 'null'
  const value: unknown =
    typeof given.value === 'string' || typeof given.value === 'boolean'
      ? given.value
      : JSON.parse(text)
  const settled: OperationOutcome =
    given.run_id === undefined ? { ok: true, value } : { ok: true, value, run_id: given.run_id }
  return { line: serializeDone(id, key, settled, text, by), settled }
}

function tryAsync<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return work()
  } catch (error) {
    return Promise.reject(error)
  }
}

type SleepUntil = Extract<DurableOperation, { readonly kind: 'sleep' }>['until']

// Timers ignore that the machine sleeps or that its clock is set, so an absolute time is checked
// again and again.
const MAX_CLOCK_CHECK_MS = MINUTE_MS

/** When a sleep that begins now ends. Throws INVALID_INPUT for an invalid time. */
function getSleepEnd(until: SleepUntil, now: number): string {
  const end = 'seconds' in until ? now + until.seconds * 1000 : Date.parse(until.time)
  const time = new Date(end)
  if (Number.isNaN(time.getTime()))
    throw new ToolError(
      'INVALID_INPUT',
      `'${'seconds' in until ? until.seconds : until.time}' is no time to wait for`,
    )
  return time.toISOString()
}

/**
 * Calls back when a sleep ends; returns a function that cancels it. A number of seconds is never
 * exceeded, even if the clock is set back meanwhile.
 */
function startSleepTimer(
  until: SleepUntil,
  end: string,
  now: () => number,
  isOver: () => void,
): () => void {
  const byClock = Date.parse(end)
  let timer: NodeJS.Timeout
  if ('seconds' in until) {
    // If the clock was set back between two attempts, it would add that time.
    const begun = performance.now()
    const length = Math.min(until.seconds * 1000, Math.max(0, byClock - now()))
    const wait = (): void => {
      const rest = length - (performance.now() - begun)
      timer = setTimeout(
        rest > MAX_TIMER_MS ? wait : isOver,
        Math.min(Math.ceil(rest), MAX_TIMER_MS),
      )
    }
    wait()
  } else {
    const look = (): void => {
      const rest = byClock - now()
      if (rest <= 0) isOver()
      else timer = setTimeout(look, Math.min(rest, MAX_CLOCK_CHECK_MS))
    }
    timer = setTimeout(look, 0)
  }
  return () => clearTimeout(timer)
}
