import { isOver } from '../../../contract/run-state.ts'
import type { RunEvent, RunState } from '../../../contract/run-state.ts'
import { failedStep, messageOf } from '../summary/event-text.ts'
import type { RunFailure } from '../summary/summary.ts'
import type { AttemptModel, RunModel } from './run-model-type.ts'

const MOST_ATTEMPTS = 1000
const MOST_SPANS = 500

/** What an event means for the attempts of a run, its failure and its deadline. */
export function applyToAttempts(
  model: RunModel,
  event: RunEvent,
  at: number,
  before: RunState,
): void {
  const { type } = event
  if (type === 'runner_start') return begin(model, event, at)
  const current = model.attempts.at(-1)
  if (type === 'error' || type === 'runner_error' || type === 'cancelled') fail(model, event)
  if (type === 'runner_end') return end(model, current, event, at)
  if (before === model.state || !current) return
  // Nobody counts while it waits.
  const { from } = current.spans.at(-1) ?? { from: at }
  turn(current, model.state, at)
  if (model.state === 'running') {
    model.waited_ms += Math.max(0, at - from)
    count(model, current)
  } else delete model.deadline
}

function begin(model: RunModel, event: RunEvent, at: number): void {
  const previous = model.attempts.at(-1)
  const cause =
    event.attempt === 1
      ? 'first'
      : event['resumed_by'] === 'resume' || event['resumed'] === true
        ? 'resume'
        : previous?.retry_in_s !== undefined
          ? 'retry'
          : 'resume'
  const { level, timeout_s: timeout } = event
  const attempt: AttemptModel = {
    attempt: event.attempt,
    began: at,
    state: 'running',
    cause,
    ...(typeof level === 'string' && { level }),
    spans: [{ from: at, state: 'running', attempt: event.attempt }],
  }
  if (model.attempts.length < MOST_ATTEMPTS) model.attempts.push(attempt)
  else model.attempts[MOST_ATTEMPTS - 1] = attempt
  for (const field of ['result', 'error', 'rc', 'progress', 'timeout_s', 'deadline'] as const)
    delete model[field]
  Object.assign(model, { artifacts: 0, tail: [], waited_ms: 0 })
  if (typeof timeout === 'number') model.timeout_s = timeout
  count(model, attempt)
}

function count(model: RunModel, { began }: AttemptModel): void {
  if (model.timeout_s !== undefined)
    model.deadline = began + model.timeout_s * 1000 + model.waited_ms
}

function turn(attempt: AttemptModel, state: RunState, at: number): void {
  const last = attempt.spans.at(-1)
  if (last && last.to === undefined) last.to = at
  if (!isOver(state) && attempt.spans.length < MOST_SPANS)
    attempt.spans.push({ from: at, state, attempt: attempt.attempt })
}

function end(
  model: RunModel,
  current: AttemptModel | undefined,
  event: RunEvent,
  at: number,
): void {
  const { rc, code, retry_in_s: again } = event
  if (typeof rc === 'number') model.rc = rc
  if (model.state === 'completed') delete model.error
  else {
    delete model.result
    if (typeof code === 'string' && code !== model.error?.code) model.error = { code }
  }
  delete model.progress
  delete model.deadline
  if (!current) return
  turn(current, model.state, at)
  current.ended = at
  current.state = model.state
  if (typeof rc === 'number') current.rc = rc
  if (model.error) current.error = failureOf(model.error)
  if (typeof again === 'number') current.retry_in_s = again
}

function fail(model: RunModel, event: RunEvent): void {
  const { hint, retryable } = event
  const step = failedStep(event)
  const code = event.type === 'cancelled' ? 'E_CANCELLED' : event['code']
  const message = event.type === 'cancelled' ? event['reason'] : messageOf(event)
  if (typeof code !== 'string') return
  model.error = {
    code,
    ...(typeof message === 'string' && { message }),
    ...(typeof hint === 'string' && hint !== '' && { hint }),
    ...(typeof retryable === 'boolean' && { retryable }),
    ...(step !== undefined && { step }),
  }
}

function failureOf({ code, message, hint, step }: RunFailure): RunFailure {
  return {
    code,
    ...(message !== undefined && { message }),
    ...(hint !== undefined && { hint }),
    ...(step !== undefined && { step }),
  }
}
