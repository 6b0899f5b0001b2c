import { isObject } from '../../../contract/json.ts'
import type { Plan } from '../../../contract/plan.ts'
import { planIn } from '../../../contract/read-plan.ts'
import { QUEUED, isOver, transition } from '../../../contract/run-state.ts'
import type { RunEvent, RunStanding } from '../../../contract/run-state.ts'
import { eventText, failedStep, messageOf, percentOf } from './event-text.ts'
import type { OpenQuestion, RunFailure, RunProgress, RunSummary } from './summary.ts'

const MOST_QUESTIONS = 100
const MOST_ARTIFACTS = 1000
const ENVELOPE = ['v', 'type', 'ts', 'run_id', 'trace_id', 'span_id', 'seq', 'attempt']

/** What of a request a summary repeats. */
export type Asked = { readonly run_id: string; readonly tool: string; readonly created: string }

/** A summary that grows with its events, in time linear in them and space that they cannot extend. */
export type SummaryBuilder = { add(event: RunEvent): void; current(): RunSummary }

/** Sums up a run: a request and what happened. */
export function summarize(request: Asked, events: Iterable<RunEvent>): RunSummary {
  const builder = startSummary(request)
  for (const event of events) builder.add(event)
  return builder.current()
}

/** Begins a summary, for events that come one after the other. `before` is where the run stood, for whoever sees only what comes after it. */
export function startSummary(
  { run_id, tool, created }: Asked,
  before: RunStanding = QUEUED,
): SummaryBuilder {
  let standing: RunStanding = before
  let attempt = emptyAttempt()
  const questions = new Map<string, OpenQuestion>()
  const counts = { events: 0, diagnostics: 0, warnings: 0 }
  let last: RunEvent | undefined

  const collect = (event: RunEvent): void => {
    if (event.type === 'progress')
      Object.assign(attempt, { progress: progressOf(event) }, planIn(event))
    else if (event.type === 'artifact') addArtifacts(attempt, [withoutEnvelope(event)])
    else if (event.type === 'result')
      attempt.result = Object.hasOwn(event, 'result') ? event['result'] : withoutEnvelope(event)
    else if (event.type === 'error' || event.type === 'runner_error')
      attempt.error = failureOf(event) ?? attempt.error
    else if (event.type === 'cancelled')
      attempt.error = {
        code: 'E_CANCELLED',
        ...(typeof event['reason'] === 'string' && { message: event['reason'] }),
      }
    if (
      (event.type === 'result' || event.type === 'runner_end') &&
      Array.isArray(event['artifacts'])
    ) {
      attempt.artifacts = []
      addArtifacts(attempt, event['artifacts'])
    }
  }
  const end = (event: RunEvent): void => {
    attempt.ended = event.ts
    if (typeof event['rc'] === 'number') attempt.rc = event['rc']
    if (typeof event['code'] === 'string' && event['code'] !== attempt.error?.code)
      attempt.error = { code: event['code'] }
    // A run that completed has no failure, whatever was said on the way.
    if (event['state'] === 'completed') attempt.error = undefined
    else attempt.result = undefined
  }

  return {
    add(event) {
      counts.events += 1
      if (event.type === 'diagnostic') counts.diagnostics += 1
      if (event.type === 'runner_warning') counts.warnings += 1
      const next = transition(standing, event)
      if (!next) return
      const moved = next !== standing
      standing = next
      last = event.type === 'heartbeat' ? (last ?? event) : event
      if (event.type === 'runner_start')
        attempt = {
          ...emptyAttempt(),
          started: event.ts,
          ...(typeof event['level'] === 'string' && { level: event['level'] }),
        }
      collect(event)
      if (event.type === 'runner_end') end(event)
      const { interaction } = event
      if (
        event.type === 'action_required' &&
        isObject(interaction) &&
        typeof interaction['id'] === 'string' &&
        questions.size < MOST_QUESTIONS
      )
        questions.set(interaction['id'], interaction as OpenQuestion)
      if (moved)
        for (const id of questions.keys()) if (!standing.open.includes(id)) questions.delete(id)
    },
    current() {
      const { started, ended, level, progress, plan, result, error, artifacts, rc } = attempt
      const seconds =
        started !== undefined && ended !== undefined
          ? (Date.parse(ended) - Date.parse(started)) / 1000
          : NaN
      return {
        run_id,
        tool,
        state: standing.state,
        attempt: standing.attempt,
        created,
        ...(started !== undefined && { started }),
        ...(ended !== undefined && { ended }),
        ...(seconds >= 0 && { duration_s: seconds }),
        ...(level !== undefined && { level }),
        ...(progress && !isOver(standing.state) && { progress }),
        ...(plan && { plan }),
        ...(last && { last: { type: last.type, ts: last.ts, text: eventText(last) } }),
        questions: [...questions.values()],
        ...(result !== undefined && { result }),
        ...(error && { error }),
        ...(artifacts.length > 0 && { artifacts }),
        ...(rc !== undefined && { rc }),
        events: counts.events,
        ...(counts.diagnostics > 0 && { diagnostics: counts.diagnostics }),
        ...(counts.warnings > 0 && { warnings: counts.warnings }),
      }
    },
  }
}

type Attempt = {
  started?: string
  ended?: string
  level?: string
  progress?: RunProgress
  plan?: Plan
  result?: unknown
  error?: RunFailure | undefined
  artifacts: unknown[]
  rc?: number
}

function emptyAttempt(): Attempt {
  return { artifacts: [] }
}

function progressOf(event: RunEvent): RunProgress {
  const [percent, message] = [percentOf(event), messageOf(event)]
  return {
    ...(percent !== undefined && { percent }),
    ...(message !== undefined && { message: message.slice(0, 500) }),
    ...(typeof event['step'] === 'string' && { step: event['step'].slice(0, 200) }),
  }
}

function failureOf(event: RunEvent): RunFailure | undefined {
  const { code, hint } = event
  const [message, step] = [messageOf(event), failedStep(event)]
  return typeof code === 'string'
    ? {
        code,
        ...(message !== undefined && { message }),
        ...(typeof hint === 'string' && hint !== '' && { hint }),
        ...(step !== undefined && { step }),
      }
    : undefined
}

function addArtifacts(attempt: Attempt, artifacts: readonly unknown[]): void {
  attempt.artifacts.push(...artifacts.slice(0, MOST_ARTIFACTS - attempt.artifacts.length))
}

function withoutEnvelope(event: RunEvent): { readonly [field: string]: unknown } {
  return Object.fromEntries(Object.entries(event).filter(([name]) => !ENVELOPE.includes(name)))
}
