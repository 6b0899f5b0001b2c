import { isObject } from '../../../contract/json.ts'
import { planIn } from '../../../contract/read-plan.ts'
import { transition } from '../../../contract/run-state.ts'
import type { RunEvent } from '../../../contract/run-state.ts'
import { eventText, lastWords, messageOf, percentOf } from '../summary/event-text.ts'
import { applyToAttempts } from './apply-to-attempts.ts'
import { applyToQuestions } from './apply-to-questions.ts'
import { applyToSteps } from './apply-to-steps.ts'
import type { RunModel } from './run-model-type.ts'

const MOST_MARKS = 500
const MOST_TYPES = 60
const LONGEST_TAIL = 20
const LONGEST_LINE = 500
const LONGEST_STEP = 200
/** Tools write whole seconds, and what they say is not older than what was said before. */
const GRAIN_MS = 2000
const MOST_SILENCES = 200
const MARKED = [
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

/** Takes the next event of a run into its model. One that the model knows already, or that may not happen where the run stands, changes nothing but the counts. */
export function applyEvent(model: RunModel, event: RunEvent): void {
  if (event.seq <= model.seq) return
  model.seq = event.seq
  count(model, event)
  const next = transition(
    { state: model.state, attempt: model.attempt, open: openQuestions(model) },
    event,
  )
  if (!next) return
  const at = timeOf(model, event)
  hear(model, event, at)
  const before = model.state
  model.state = next.state
  model.attempt = next.attempt
  applyToQuestions(model, event, at)
  applyToAttempts(model, event, at, before)
  applyToSteps(model, event, at)
  say(model, event, at)
}

function openQuestions({ questions }: RunModel): readonly string[] {
  return questions
    .filter(({ answered, withdrawn }) => !answered && !withdrawn)
    .map(({ question }) => question.id)
}

function count({ counts }: RunModel, { type, level }: RunEvent): void {
  counts.events += 1
  if (type === 'runner_warning' || (type === 'log' && (level === 'warn' || level === 'warning')))
    counts.warnings += 1
  else if (type === 'diagnostic') counts.diagnostics += 1
  else if (type === 'error' || type === 'runner_error' || (type === 'log' && level === 'error'))
    counts.errors += 1
  else if (type === 'item') counts.items += 1
  if (Object.hasOwn(counts.by_type, type)) counts.by_type[type]! += 1
  else if (Object.keys(counts.by_type).length < MOST_TYPES) counts.by_type[type] = 1
}

function timeOf({ heard }: RunModel, { type, ts }: RunEvent): number {
  const at = Date.parse(ts)
  if (Number.isNaN(at)) return heard ?? 0
  return !type.startsWith('runner_') && heard !== undefined && at < heard && heard - at < GRAIN_MS
    ? heard
    : at
}

function hear(model: RunModel, { type }: RunEvent, at: number): void {
  if (type === 'runner_start') delete model.grace_s
  else if ((type === 'start' || type === 'heartbeat') && model.promised_grace_s !== undefined)
    model.grace_s = model.promised_grace_s
  const { heard, grace_s: grace } = model
  if (
    heard !== undefined &&
    grace !== undefined &&
    model.state === 'running' &&
    at - heard > grace * 500 &&
    model.silences.length < MOST_SILENCES
  )
    model.silences.push({ from: heard, to: at })
  model.heard = at
}

function say(model: RunModel, event: RunEvent, at: number): void {
  const { type } = event
  if (type === 'progress') {
    const [percent, message, step] = [percentOf(event), messageOf(event), event['step']]
    model.progress = {
      ...(percent !== undefined && { percent }),
      ...(message !== undefined && { message: message.slice(0, LONGEST_LINE) }),
      ...(typeof step === 'string' && { step: step.slice(0, LONGEST_STEP) }),
    }
    Object.assign(model, planIn(event))
  } else if (type === 'result')
    model.result = Object.hasOwn(event, 'result') ? event['result'] : null
  else if (type === 'artifact') model.artifacts += 1
  if ((type === 'result' || type === 'runner_end') && Array.isArray(event['artifacts']))
    model.artifacts = event['artifacts'].length
  const isAnswer = type === 'runner_log' && isObject(event['answer'])
  // What is told of each step is seen in the step.
  const isTold = type === 'log' && event['step_state'] !== undefined
  if (MARKED.includes(type) || isAnswer) mark(model, event, at)
  const text = lastWords(event)
  if (
    type !== 'heartbeat' &&
    type !== 'runner_start' &&
    type !== 'runner_end' &&
    !isTold &&
    text !== ''
  )
    model.last = { at, type, text }
  const line = tailLine(event)
  if (line !== undefined && !isTold) {
    model.tail.push(line.slice(0, LONGEST_LINE))
    if (model.tail.length > LONGEST_TAIL) model.tail.shift()
  }
}

function tailLine(event: RunEvent): string | undefined {
  if (event.type === 'log' || event.type === 'error' || event.type === 'runner_error')
    return eventText(event)
  return event.type === 'diagnostic' && typeof event['line'] === 'string'
    ? event['line']
    : undefined
}

function mark(model: RunModel, event: RunEvent, at: number): void {
  if (model.marks.length >= MOST_MARKS) return void (model.more_marks += 1)
  const { step } = event
  model.marks.push({
    at,
    seq: event.seq,
    type: event.type,
    text: eventText(event).slice(0, LONGEST_STEP),
    ...(typeof step === 'string' && step !== '' && { step: step.slice(0, LONGEST_STEP) }),
  })
}
