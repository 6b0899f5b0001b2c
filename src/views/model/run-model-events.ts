/**
 * Applies the events of a run to its model: state, attempts, questions, progress, marks and log
 * tail.
 */

import { readEventPlan } from '../../protocol/plan.ts'
import type { RunEvent, RunState } from '../../protocol/run-state.ts'
import { applyRunEvent, isFinished } from '../../protocol/run-state.ts'
import { asNumber, asString, compact, isObject } from '../../util/values.ts'
import type { RunFailure } from './event-text.ts'
import { toEventText, toFailure, toLastText, toProgress } from './event-text.ts'
import { applyToSteps } from './run-model-steps.ts'
import type { AttemptModel, RunModel } from './run-model.ts'
import { listOpenQuestions } from './run-model.ts'
import type { OpenQuestion } from './run-summary.ts'

const MAX_MARKS = 500
const MAX_EVENT_TYPES = 60
const MAX_TAIL_LINES = 20
const MAX_LINE_CHARS = 500
const MAX_STEP_CHARS = 200
/** Tools write whole seconds, and what they say is not older than what was said before. */
const CLOCK_GRAIN_MS = 2000
const MAX_SILENCES = 200
/** Signs of life and the frame of an attempt are not what a run said last. */
const SILENT_TYPES = ['heartbeat', 'runner_start', 'runner_end']
const MARKED_TYPES = [
  'artifact',
  'action_required',
  'error',
  'runner_error',
  'runner_warning',
  'cancelled',
  'result',
  'runner_start',
  'runner_end',
  'task_error',
]

/**
 * Takes the next event of a run into its model. One that the model knows already, or that may not
 * happen where the run stands, changes nothing but the counts.
 */
export function applyEvent(model: RunModel, event: RunEvent): void {
  if (event.seq <= model.seq) return
  model.seq = event.seq
  countEvent(model, event)
  const next = applyRunEvent(
    {
      state: model.state,
      attempt: model.attempt,
      open: listOpenQuestions(model).map(({ question }) => question.id),
    },
    event,
  )
  if (!next) return
  const at = getEventTime(model, event)
  noteHeard(model, event, at)
  const before = model.state
  model.state = next.state
  model.attempt = next.attempt
  applyToQuestions(model, event, at)
  applyToAttempts(model, event, at, before)
  applyToSteps(model, event, at)
  noteSaid(model, event, at)
}

function countEvent({ counts }: RunModel, { type, level }: RunEvent): void {
  counts.events += 1
  if (type === 'runner_warning' || (type === 'log' && (level === 'warn' || level === 'warning')))
    counts.warnings += 1
  else if (type === 'diagnostic') counts.diagnostics += 1
  else if (type === 'error' || type === 'runner_error' || (type === 'log' && level === 'error'))
    counts.errors += 1
  else if (type === 'item') counts.items += 1
  if (Object.hasOwn(counts.by_type, type)) counts.by_type[type]! += 1
  else if (Object.keys(counts.by_type).length < MAX_EVENT_TYPES) counts.by_type[type] = 1
}

function getEventTime({ heard }: RunModel, { type, ts }: RunEvent): number {
  const at = Date.parse(ts)
  if (Number.isNaN(at)) return heard ?? 0
  return !type.startsWith('runner_') &&
    heard !== undefined &&
    at < heard &&
    heard - at < CLOCK_GRAIN_MS
    ? heard
    : at
}

function noteHeard(model: RunModel, { type }: RunEvent, at: number): void {
  if (type === 'runner_start') delete model.grace_s
  else if ((type === 'start' || type === 'heartbeat') && model.promised_grace_s !== undefined)
    model.grace_s = model.promised_grace_s
  const { heard, grace_s: grace } = model
  if (
    heard !== undefined &&
    grace !== undefined &&
    model.state === 'running' &&
    at - heard > grace * 500 &&
    model.silences.length < MAX_SILENCES
  )
    model.silences.push({ from: heard, to: at })
  model.heard = at
}

function noteSaid(model: RunModel, event: RunEvent, at: number): void {
  const { type } = event
  if (type === 'progress') {
    model.progress = toProgress(event)
    Object.assign(model, readEventPlan(event))
  } else if (type === 'result')
    model.result = Object.hasOwn(event, 'result') ? event['result'] : null
  else if (type === 'artifact') model.artifacts += 1
  if ((type === 'result' || type === 'runner_end') && Array.isArray(event['artifacts']))
    model.artifacts = event['artifacts'].length
  const isAnswer = type === 'runner_log' && isObject(event['answer'])
  // Step reports are shown by the steps.
  const isTold = type === 'log' && event['step_state'] !== undefined
  if (MARKED_TYPES.includes(type) || isAnswer) addMark(model, event, at)
  const text = toLastText(event)
  if (!SILENT_TYPES.includes(type) && !isTold && text !== '') model.last = { at, type, text }
  const line = getTailLine(event)
  if (line !== undefined && !isTold) {
    model.tail.push(line.slice(0, MAX_LINE_CHARS))
    if (model.tail.length > MAX_TAIL_LINES) model.tail.shift()
  }
}

function getTailLine(event: RunEvent): string | undefined {
  if (event.type === 'log' || event.type === 'error' || event.type === 'runner_error')
    return toEventText(event)
  return event.type === 'diagnostic' && typeof event['line'] === 'string'
    ? event['line']
    : undefined
}

function addMark(model: RunModel, event: RunEvent, at: number): void {
  if (model.marks.length >= MAX_MARKS) return void (model.more_marks += 1)
  const { step } = event
  model.marks.push(
    compact({
      at,
      seq: event.seq,
      type: event.type,
      text: toEventText(event).slice(0, MAX_STEP_CHARS),
      step: asString(step)?.slice(0, MAX_STEP_CHARS) || undefined,
    }),
  )
}

const MAX_ATTEMPTS = 1000
const MAX_ATTEMPT_SPANS = 500

/** What an event means for the attempts of a run, its failure and its deadline. */
function applyToAttempts(model: RunModel, event: RunEvent, at: number, before: RunState): void {
  const { type } = event
  if (type === 'runner_start') return beginAttempt(model, event, at)
  const current = model.attempts.at(-1)
  if (type === 'error' || type === 'runner_error' || type === 'cancelled') setError(model, event)
  if (type === 'runner_end') return endAttempt(model, current, event, at)
  if (before === model.state || !current) return
  // The deadline is paused while a question is open.
  const { from } = current.spans.at(-1) ?? { from: at }
  changeAttemptState(current, model.state, at)
  if (model.state === 'running') {
    model.waited_ms += Math.max(0, at - from)
    setDeadline(model, current)
  } else delete model.deadline
}

function beginAttempt(model: RunModel, event: RunEvent, at: number): void {
  const attempt: AttemptModel = {
    attempt: event.attempt,
    began: at,
    state: 'running',
    cause: getAttemptCause(event, model.attempts.at(-1)),
    ...compact({ level: asString(event['level']) }),
    spans: [{ from: at, state: 'running', attempt: event.attempt }],
  }
  if (model.attempts.length < MAX_ATTEMPTS) model.attempts.push(attempt)
  else model.attempts[MAX_ATTEMPTS - 1] = attempt
  for (const field of ['result', 'error', 'rc', 'progress', 'timeout_s', 'deadline'] as const)
    delete model[field]
  Object.assign(model, { artifacts: 0, tail: [], waited_ms: 0 })
  const timeout = asNumber(event['timeout_s'])
  if (timeout !== undefined) model.timeout_s = timeout
  setDeadline(model, attempt)
}

function getAttemptCause(event: RunEvent, previous: AttemptModel | undefined): string {
  if (event.attempt === 1) return 'first'
  if (event['resumed_by'] === 'resume' || event['resumed'] === true) return 'resume'
  return previous?.retry_in_s === undefined ? 'resume' : 'retry'
}

function setDeadline(model: RunModel, { began }: AttemptModel): void {
  if (model.timeout_s !== undefined)
    model.deadline = began + model.timeout_s * 1000 + model.waited_ms
}

function changeAttemptState(attempt: AttemptModel, state: RunState, at: number): void {
  const last = attempt.spans.at(-1)
  if (last && last.to === undefined) last.to = at
  if (!isFinished(state) && attempt.spans.length < MAX_ATTEMPT_SPANS)
    attempt.spans.push({ from: at, state, attempt: attempt.attempt })
}

function endAttempt(
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
  changeAttemptState(current, model.state, at)
  current.ended = at
  current.state = model.state
  if (typeof rc === 'number') current.rc = rc
  if (model.error) current.error = copyFailure(model.error)
  if (typeof again === 'number') current.retry_in_s = again
}

function setError(model: RunModel, event: RunEvent): void {
  const failure = toFailure(event)
  if (!failure) return
  const { code, message, hint, step } = failure
  const retryable = typeof event['retryable'] === 'boolean' ? event['retryable'] : undefined
  model.error = compact({ code, message, hint, retryable, step })
}

function copyFailure({ code, message, hint, step }: RunFailure): RunFailure {
  return compact({ code, message, hint, step })
}

const MAX_QUESTIONS = 200

/** What an event means for the questions of a run. */
function applyToQuestions(model: RunModel, event: RunEvent, at: number): void {
  const { type, interaction, answer } = event
  if (type === 'action_required' && isObject(interaction) && typeof interaction['id'] === 'string')
    return addQuestion(model, interaction as OpenQuestion, at)
  // A new attempt asks its questions again, and a finished run needs no answers.
  if (type === 'runner_start' || (type === 'runner_end' && isFinished(model.state)))
    for (const one of model.questions) if (!one.answered) one.withdrawn = true
  if (type !== 'runner_log' || !isObject(answer)) return
  const found = model.questions.findLast(
    ({ question, answered, withdrawn }) => question.id === answer['id'] && !answered && !withdrawn,
  )
  if (!found) return
  const { by, value, note } = answer
  if (answer['withdrawn'] === true) found.withdrawn = true
  else found.answered = compact({ at, by: asString(by), value, note: asString(note) })
}

function addQuestion(model: RunModel, question: OpenQuestion, at: number): void {
  const { timeout } = question
  if (model.questions.length >= MAX_QUESTIONS) model.questions.splice(0, 1)
  model.questions.push(
    compact({
      question,
      asked: at,
      deadline: typeof timeout === 'number' ? at + timeout * 1000 : undefined,
    }),
  )
}
