import { getEventListeners } from 'node:events'
import { ToolError } from '../../../contract/tool-error.ts'
import { crashPoint } from '../../../process/crash-point.ts'
import { Cancellation } from '../engine-type.ts'
import type {
  Begun,
  DurableContext,
  Operation,
  PerformTool,
  Settled,
  StepError,
  WorkflowEvent,
  WorkflowQuestion,
} from '../engine-type.ts'
import { stepErrorOf, toolErrorOf } from '../step-error.ts'
import type { Journal } from './journal/open-journal.ts'
import { readDone, stringify, writeDone } from './journal/record.ts'
import type { JournalRecord } from './journal/record.ts'
import { endOfPause, startPause } from './pause.ts'

/** Waits for the answer to a question, and tells who gave it. Rejects where nobody will, now: the question stays open, and the execution is given up when nothing else of it goes on. */
export type AskQuestion = (
  question: WorkflowQuestion,
  signal: AbortSignal,
) => Promise<{ readonly value: unknown; readonly by?: string }>

export type DurableOptions = {
  readonly id: string
  /** What is on record; records of other executions among them do not count. */
  readonly records: readonly JournalRecord[]
  readonly journal: Pick<Journal, 'append' | 'appendLine' | 'whenSynced'>
  readonly perform: PerformTool
  readonly ask: AskQuestion
  /** Milliseconds of the clock on the wall. */
  readonly now: () => number
  /** Told what happens; `again` where it had happened before the restart. */
  readonly tell?: (event: WorkflowEvent, again: boolean) => void
}

/** One execution on a journal, as its host holds it. */
export type Durable = {
  readonly context: DurableContext
  /** Has the `first` that waits, or the next, reject with a `Cancellation`. Once: what was cancelled already stays as it is. */
  cancel(reason: string): void
  /** Questions that were asked and have no answer yet. */
  readonly questions: readonly WorkflowQuestion[]
  /** Ends what was launched, records nothing any more, and has `first` reject with this: the host goes, or was lost. */
  stop(error: ToolError): void
}

/** Makes the context of an execution from what is on record of it: what was recorded is given again in the same order, and what was not is launched when everything recorded is on the disk. */
export function createDurableContext(options: DurableOptions): Durable {
  return new Recorded(options)
}

type Waiting = {
  readonly begun: readonly Started[]
  readonly resolve: (first: { readonly begun: Begun; readonly settled: Settled }) => void
  readonly reject: (error: Error) => void
}

/** An operation on its way. */
class Started implements Begun {
  /** Where its end stands in the order of all that was recorded; 0 as long as it has none. */
  position = 0
  settled: Settled | undefined
  /** Ends it, where it is launched. */
  end: ((error: StepError) => void) | undefined
  aborted: StepError | undefined
  /** Why nobody will answer it. */
  unanswered: ToolError | undefined
  constructor(
    readonly operation: Operation,
    private readonly execution: Recorded,
  ) {}
  abort(error: StepError): void {
    this.execution.abort(this, error)
  }
}

// Controllers that nobody listens to any more: to make one costs as much as the rest of a step.
const spare: AbortController[] = []
const MOST_SPARE = 100

class Recorded implements Durable, DurableContext {
  readonly id: string
  readonly context: DurableContext = this
  private readonly ends = new Map<
    string,
    { readonly position: number; readonly settled: Settled }
  >()
  private readonly pauses = new Map<string, string>()
  private readonly asked = new Map<string, WorkflowQuestion>()
  private readonly launched = new Set<Started>()
  /** How many ends, the cancellation among them, are recorded. */
  private count = 0
  private readonly before: number
  private told = 0
  private cancelled:
    { readonly position: number; readonly reason: string; told: boolean } | undefined
  /** The position in the journal of what was appended last; undefined: nobody knows, and all of it is waited for. */
  private last: number | undefined
  private waiting: Waiting | undefined
  private lost: ToolError | undefined

  constructor(private readonly options: DurableOptions) {
    this.id = options.id
    for (const record of options.records) this.read(record)
    this.before = this.count
  }

  get questions(): readonly WorkflowQuestion[] {
    return [...this.asked.values()]
  }

  begin(operation: Operation): Begun {
    const started = new Started(operation, this)
    const end = this.ends.get(operation.key)
    if (end) {
      started.position = end.position
      started.settled = end.settled
    }
    return started
  }

  first(begun: readonly Begun[]): Promise<{ readonly begun: Begun; readonly settled: Settled }> {
    if (this.lost) return Promise.reject(this.lost)
    let next: Started | undefined
    for (const one of begun as readonly Started[])
      if (one.position !== 0 && (next === undefined || one.position < next.position)) next = one
    const { cancelled } = this
    if (cancelled && !cancelled.told && (next === undefined || cancelled.position < next.position))
      return Promise.reject(this.tellCancellation(cancelled))
    if (next) {
      this.told += 1
      return Promise.resolve({ begun: next, settled: next.settled! })
    }
    if (begun.length === 0)
      return Promise.reject(new ToolError('INTERNAL', `${this.id} waits for nothing`))
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { begun: begun as readonly Started[], resolve, reject }
      this.waiting = waiting
      this.launch(waiting)
    })
  }

  tell(event: WorkflowEvent): void {
    this.options.tell?.(event, this.told < this.before)
  }

  cancel(reason: string): void {
    if (this.cancelled || this.lost) return
    this.count += 1
    this.cancelled = { position: this.count, reason, told: false }
    this.last = this.options.journal.append({ t: 'cancel', w: this.id, reason })
    const { waiting } = this
    this.waiting = undefined
    waiting?.reject(this.tellCancellation(this.cancelled))
  }

  stop(error: ToolError): void {
    if (this.lost) return
    this.lost = error
    const { waiting } = this
    this.waiting = undefined
    for (const one of this.launched) one.end?.(stepErrorOf(error))
    this.launched.clear()
    waiting?.reject(error)
  }

  abort(one: Started, error: StepError): void {
    if (one.position !== 0 || one.aborted) return
    one.aborted = error
    one.end?.(error)
    // What nobody waits for ends without a word: a timer that is not needed any more leaves no record.
    if (one.operation.kind !== 'tool' || !one.end || one.unanswered) this.giveUp(one)
  }

  private giveUp(one: Started): void {
    this.launched.delete(one)
    one.end = undefined
    if (this.waiting?.begun.includes(one)) this.settle(one, { ok: false, error: one.aborted! })
    else if (one.operation.kind === 'answer') this.asked.delete(one.operation.key)
  }

  private tellCancellation(cancelled: { readonly reason: string; told: boolean }): Cancellation {
    cancelled.told = true
    this.told += 1
    return new Cancellation(cancelled.reason)
  }

  private read(record: JournalRecord): void {
    if (record.t === 'define' || record.w !== this.id) return
    if (record.t === 'done') {
      this.asked.delete(record.k)
      // A second end of the same operation cannot come from us, and changes nothing.
      if (!this.ends.has(record.k))
        this.ends.set(record.k, { position: ++this.count, settled: readDone(record) })
    } else if (record.t === 'cancel')
      this.cancelled ??= { position: ++this.count, reason: record.reason, told: false }
    else if (record.t === 'sleep') this.pauses.set(record.k, record.until)
    else if (record.t === 'ask') this.asked.set(record.k, record.q)
  }

  // What has to be known after a restart is written before anything waits, so that it goes to the disk together with what is there already.
  private launch(waiting: Waiting): void {
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
      // Somebody cancelled meanwhile, or something ended: whatever is still wanted is asked for again.
      for (const one of waiting.begun)
        if (this.waiting === waiting && !one.end && one.position === 0) this.start(one)
    })
  }

  private prepare(one: Started): void {
    const { operation } = one
    try {
      if (operation.kind === 'sleep' && !this.pauses.has(operation.key)) {
        const until = endOfPause(operation.until, this.options.now())
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
      this.settle(one, { ok: false, error: stepErrorOf(error) })
    }
  }

  private start(one: Started): void {
    const { operation } = one
    this.launched.add(one)
    if (operation.kind === 'sleep') {
      const forget = startPause(
        operation.until,
        this.pauses.get(operation.key)!,
        this.options.now,
        () => this.settle(one, { ok: true, value: null }),
      )
      one.end = forget
    } else if (operation.kind === 'answer') this.ask(one, operation.question)
    else this.perform(one, operation)
  }

  private ask(one: Started, question: WorkflowQuestion): void {
    const controller = new AbortController()
    one.end = (error) => controller.abort(toolErrorOf(error))
    void attempt(() => this.options.ask(question, controller.signal)).then(
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

  private leaveUnanswered(one: Started, error: ToolError): void {
    one.unanswered = error
    this.giveUpUnanswered()
  }

  // Whatever can go on without the answer does so first; a time that is kept is nothing that goes on.
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

  private perform(one: Started, { call }: Extract<Operation, { readonly kind: 'tool' }>): void {
    const controller = spare.pop() ?? new AbortController()
    // It ends by itself, with what it has: nobody else knows whether it has done its work.
    one.end = (error) => controller.abort(toolErrorOf(error))
    void attempt(() =>
      this.options.perform(
        { ...call, workflow: this.id, idempotencyKey: `${this.id}/${call.step}` },
        controller.signal,
      ),
    ).then(
      (settled) => {
        crashPoint('step.performed')
        if (
          !controller.signal.aborted &&
          spare.length < MOST_SPARE &&
          getEventListeners(controller.signal, 'abort').length === 0
        )
          spare.push(controller)
        this.settle(
          one,
          !settled.ok && one.aborted && settled.error.code === 'CANCELLED'
            ? {
                ok: false,
                error: {
                  ...one.aborted,
                  ...(settled.error.run_id !== undefined && { run_id: settled.error.run_id }),
                },
              }
            : settled,
        )
      },
      // Nobody answered the tool: it is asked for again in the next life, as every question is.
      (error: unknown) =>
        ToolError.is(error) && error.code === 'ANSWER_REQUIRED' && !one.aborted
          ? this.leaveUnanswered(one, error)
          : this.settle(one, { ok: false, error: stepErrorOf(error) }),
    )
  }

  private settle(one: Started, given: Settled, by?: string): void {
    if (one.position !== 0 || this.lost) return
    const { key } = one.operation
    let kept: Kept
    try {
      kept = keep(this.id, key, given, by)
    } catch (error) {
      kept = keep(this.id, key, { ok: false, error: stepErrorOf(error) })
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
    this.told += 1
    waiting.resolve({ begun: one, settled: kept.settled })
  }
}

type Kept = { readonly line: string; readonly settled: Settled }

// The interpreter gets what it would get after a restart: a date is a text then, and what a tool changes later is not changed here.
function keep(id: string, key: string, given: Settled, by?: string): Kept {
  if (!given.ok) {
    const error = JSON.parse(stringify(given.error)!) as StepError
    return {
      line: writeDone(id, key, { ok: false, error }, undefined),
      settled: { ok: false, error },
    }
  }
  const text = stringify(given.value) ?? 'null'
  const value: unknown =
    typeof given.value === 'string' || typeof given.value === 'boolean'
      ? given.value
      : JSON.parse(text)
  const settled: Settled =
    given.run_id === undefined ? { ok: true, value } : { ok: true, value, run_id: given.run_id }
  return { line: writeDone(id, key, settled, text, by), settled }
}

function attempt<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return work()
  } catch (error) {
    return Promise.reject(error)
  }
}
