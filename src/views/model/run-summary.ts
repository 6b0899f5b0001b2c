/**
 * The summary of a run: state, times, progress, questions, result or error. Used by the runner and
 * by lists; the page does not import it.
 */

import type { Plan } from '../../protocol/plan.ts'
import { readEventPlan } from '../../protocol/plan.ts'
import type { RunEvent, RunState, RunStateInfo } from '../../protocol/run-state.ts'
import {
  applyRunEvent,
  EVENT_ENVELOPE_FIELDS,
  INITIAL_RUN_STATE,
  isFinished,
} from '../../protocol/run-state.ts'
import { asString, compact, isObject } from '../../util/values.ts'
import type { RunFailure, RunProgress } from './event-text.ts'
import { toEventText, toFailure, toProgress } from './event-text.ts'

const MAX_QUESTIONS = 100
const MAX_ARTIFACTS = 1000
const ENVELOPE_FIELDS = [...EVENT_ENVELOPE_FIELDS, 'span_id']

/** What of a request a summary repeats. */
export type RunIdentity = {
  readonly run_id: string
  readonly tool: string
  readonly created: string
}

/**
 * A summary that grows with its events, in time linear in them and space that they cannot extend.
 */
export type RunSummaryBuilder = { add(event: RunEvent): void; current(): RunSummary }

/**
 * Begins a summary, for events that come one after the other. `before` is where the run stood, for
 * whoever sees only what comes after it.
 */
export function createSummaryBuilder(
  { run_id, tool, created }: RunIdentity,
  before: RunStateInfo = INITIAL_RUN_STATE,
): RunSummaryBuilder {
  let standing: RunStateInfo = before
  let attempt: AttemptSummary = { artifacts: [] }
  const questions = new Map<string, OpenQuestion>()
  const counts = { events: 0, diagnostics: 0, warnings: 0 }
  let last: RunEvent | undefined

  const collect = (event: RunEvent): void => {
    if (event.type === 'progress')
      Object.assign(attempt, { progress: toProgress(event) }, readEventPlan(event))
    else if (event.type === 'artifact') addArtifacts(attempt, [stripEnvelope(event)])
    else if (event.type === 'result')
      attempt.result = Object.hasOwn(event, 'result') ? event['result'] : stripEnvelope(event)
    else if (event.type === 'error' || event.type === 'runner_error')
      attempt.error = toFailure(event) ?? attempt.error
    else if (event.type === 'cancelled')
      attempt.error = compact({ code: 'E_CANCELLED', message: asString(event['reason']) })
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
    // A completed run has no failure, even if it reported errors on the way.
    if (event['state'] === 'completed') attempt.error = undefined
    else attempt.result = undefined
  }

  return {
    add(event) {
      counts.events += 1
      if (event.type === 'diagnostic') counts.diagnostics += 1
      if (event.type === 'runner_warning') counts.warnings += 1
      const next = applyRunEvent(standing, event)
      if (!next) return
      const moved = next !== standing
      standing = next
      last = event.type === 'heartbeat' ? (last ?? event) : event
      if (event.type === 'runner_start')
        attempt = {
          artifacts: [],
          started: event.ts,
          ...compact({ level: asString(event['level']) }),
        }
      collect(event)
      if (event.type === 'runner_end') end(event)
      const { interaction } = event
      if (
        event.type === 'action_required' &&
        isObject(interaction) &&
        typeof interaction['id'] === 'string' &&
        questions.size < MAX_QUESTIONS
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
      return compact({
        run_id,
        tool,
        state: standing.state,
        attempt: standing.attempt,
        created,
        started,
        ended,
        duration_s: seconds >= 0 ? seconds : undefined,
        level,
        progress: progress && !isFinished(standing.state) ? progress : undefined,
        plan,
        last: last ? { type: last.type, ts: last.ts, text: toEventText(last) } : undefined,
        questions: [...questions.values()],
        result,
        error,
        artifacts: artifacts.length > 0 ? artifacts : undefined,
        rc,
        events: counts.events,
        diagnostics: counts.diagnostics || undefined,
        warnings: counts.warnings || undefined,
      })
    },
  }
}

type AttemptSummary = {
  -readonly [
    Field in 'started' | 'ended' | 'level' | 'progress' | 'plan' | 'result' | 'rc'
  ]?: RunSummary[Field]
} & { error?: RunFailure | undefined; artifacts: unknown[] }

function addArtifacts(attempt: AttemptSummary, artifacts: readonly unknown[]): void {
  attempt.artifacts.push(...artifacts.slice(0, MAX_ARTIFACTS - attempt.artifacts.length))
}

function stripEnvelope(event: RunEvent): { readonly [field: string]: unknown } {
  return Object.fromEntries(
    Object.entries(event).filter(([name]) => !ENVELOPE_FIELDS.includes(name)),
  )
}

/** A question without an answer. */
export type OpenQuestion = {
  readonly id: string
  readonly kind?: string
  readonly prompt?: string
  readonly [field: string]: unknown
}

/** Where a run stands: everything that its record says, in one object of bounded size. */
export type RunSummary = {
  readonly run_id: string
  readonly tool: string
  readonly state: RunState
  readonly attempt: number
  /** When it was asked for. */
  readonly created: string
  /** When the last attempt began and ended. */
  readonly started?: string
  readonly ended?: string
  readonly duration_s?: number
  readonly level?: string
  readonly progress?: RunProgress
  /** What the tool has set out to do, where it says so, and how far it came. */
  readonly plan?: Plan
  /** The last thing that was said, in a line. */
  readonly last?: { readonly type: string; readonly ts: string; readonly text: string }
  readonly questions: readonly OpenQuestion[]
  readonly result?: unknown
  readonly error?: RunFailure
  readonly artifacts?: readonly unknown[]
  readonly rc?: number
  /** Lines of the record, and how many of them are diagnostics and warnings. */
  readonly events: number
  readonly diagnostics?: number
  readonly warnings?: number
}
