import { factsOf, findRow } from '../../contract/errors.ts'
import type { Retry, Step } from '../definition/workflow-type.ts'
import type { StepError } from '../engines/engine-type.ts'
import { isTrue } from '../expressions/is-true.ts'
import type { StepRecord } from '../expressions/scope-type.ts'
import { errorOf } from './error-of.ts'
import { act, Stopped, StepFailure, within } from './flow.ts'
import type { Flow } from './flow.ts'
import { pathOf } from './frame.ts'
import type { Place, StepKind } from './frame.ts'
import { KINDS } from './kinds/kinds.ts'

const SKIPPED: StepRecord = { status: 'skipped', result: null, error: null }
/** How a tool is tried again where its step says nothing about it. */
const USUAL: Retry = { max: 3, delay: 1, factor: 2, longest: 60 }
const NEVER: Retry = { ...USUAL, max: 0 }

/** Takes steps one after the other; gives the result of the last one that was not skipped. */
export function* takeSteps(steps: readonly Step[], at: Place): Flow<unknown> {
  let last: unknown = null
  for (const step of steps) {
    const record = yield* takeStep(step, at)
    if (record.status !== 'skipped') last = record.result
  }
  return last
}

/** Takes a step, as often as it has to be tried, and remembers how it went. Throws StepFailure where its failure is that of the whole. */
export function* takeStep(step: Step, at: Place): Flow<StepRecord> {
  const {
    frame: { context, undo },
    scope,
  } = at
  const path = pathOf(at.path, step.name)
  const keep = (record: StepRecord): StepRecord => (scope.steps[step.name] = record)
  try {
    if (step.when !== undefined && !isTrue(step.when, scope)) {
      context.tell?.({ type: 'step_skipped', step: path })
      return keep(SKIPPED)
    }
    context.tell?.({ type: 'step_start', step: path, kind: step.type })
    const record = yield* tryStep(step, at, path)
    if (step.compensate) undo.push({ steps: step.compensate, at: { ...at, path: `${path}~undo` } })
    context.tell?.({
      type: 'step_done',
      step: path,
      status: record.status === 'failed' ? 'failed' : 'ok',
      ...(record.error && { error: record.error }),
    })
    return keep(record)
  } catch (thrown) {
    if (thrown instanceof Stopped) throw thrown
    const error = nameStep(errorOf(thrown), path)
    context.tell?.({ type: 'step_done', step: path, status: 'failed', error })
    // Also where it ends the workflow: what takes back and what is done in any case may ask how it went.
    const record = keep({ status: 'failed', result: null, error })
    if (step.on_error !== 'continue') throw new StepFailure(error)
    return record
  }
}

function* tryStep(step: Step, at: Place, path: string): Flow<StepRecord> {
  const kind: StepKind = KINDS[step.type]
  const { retry = kind.retries ? USUAL : NEVER, timeout } = step
  const mayPass = (error: StepError): boolean =>
    retry.on ? isOneOf(error, retry.on) : step.retry ? mayChange(error) : error.retryable
  for (let attempt = 1; ; attempt += 1) {
    const here = attempt === 1 ? path : `${path}#${attempt}`
    try {
      const taken = kind.take(step, at, here, attempt)
      return yield* kind.timed && timeout !== undefined
        ? within(`${here}~timeout`, timeout, taken)
        : taken
    } catch (thrown) {
      if (thrown instanceof Stopped) throw thrown
      const error = errorOf(thrown)
      if (attempt > retry.max || !mayPass(error)) throw new StepFailure(error)
      const seconds = pauseBefore(attempt + 1, retry, `${at.frame.context.id}/${path}`)
      at.frame.context.tell?.({
        type: 'step_retry',
        step: path,
        attempt: attempt + 1,
        in_s: seconds,
        error,
      })
      if (seconds > 0)
        yield* act({ kind: 'sleep', key: `${path}#${attempt + 1}~pause`, until: { seconds } })
    }
  }
}

// The innermost step is the one that failed.
function nameStep(error: StepError, path: string): StepError {
  return error.details?.['step'] === undefined
    ? { ...error, details: { ...error.details, step: path } }
    : error
}

// Whoever writes how often wants that for every failure but those that another try cannot change: a wrong input stays wrong, what is forbidden stays so, and who cancels means it.
function mayChange({ code }: StepError): boolean {
  const { category } = factsOf(code)
  return category !== 'input' && category !== 'auth' && findRow(code)?.code !== 'CANCELLED'
}

function isOneOf({ code }: StepError, on: NonNullable<Retry['on']>): boolean {
  const row = findRow(code)
  return on.some(
    (wanted) =>
      wanted === code ||
      (row !== undefined && (wanted === row.row.class || findRow(wanted)?.code === row.code)),
  )
}

// Many that failed at the same moment do not come back at the same moment; but a replay waits as long as the first time.
function pauseBefore(attempt: number, { delay, factor, longest }: Retry, key: string): number {
  let hash = attempt
  for (let index = 0; index < key.length; index += 1)
    hash = (Math.imul(hash, 31) + key.charCodeAt(index)) >>> 0
  const full = Math.min(longest, delay * factor ** (attempt - 2))
  return Math.round(full * (500 + (hash % 501))) / 1000
}
