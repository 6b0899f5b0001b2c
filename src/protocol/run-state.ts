/**
 * The state machine of a run. `applyRunEvent` is the only transition; the runner, the views and the
 * dashboard all derive the state of a run from its events with it.
 */

import { isObject } from '../util/values.ts'
import type { ProtocolLine } from './events.ts'

/** The states of a run. `waiting_ai` is entered by a question and left by its answer. */
export const RUN_STATES = [
  'queued',
  'running',
  'waiting_ai',
  'completed',
  'failed',
  'cancelled',
] as const
export type RunState = (typeof RUN_STATES)[number]

/**
 * A line of a run's log: what the tool or the runner said, in the order in which it was recorded.
 */
export type RunEvent = ProtocolLine & {
  /** 1 for the first line of the run, then without a gap. */
  readonly seq: number
  /** 1 for the first start of the tool, one more for each that follows. */
  readonly attempt: number
}

/** The fields of an event that place it in a run; the others are what it says. */
export const EVENT_ENVELOPE_FIELDS: readonly string[] = [
  'v',
  'type',
  'ts',
  'run_id',
  'trace_id',
  'seq',
  'attempt',
]

/** Whether a run in that state is over; only `resume` and a retry lead out of it. */
export function isFinished(state: RunState): boolean {
  return state === 'completed' || state === 'failed' || state === 'cancelled'
}

/**
 * What a run knows about where it stands: its state, its attempt, and the questions that nobody has
 * answered yet.
 */
export type RunStateInfo = {
  readonly state: RunState
  readonly attempt: number
  readonly open: readonly string[]
}

/** Where every run begins. */
export const INITIAL_RUN_STATE: RunStateInfo = { state: 'queued', attempt: 0, open: [] }

/**
 * The one transition of a run: where it stands after an event. Undefined for an event that may not
 * happen there.
 */
export function applyRunEvent(
  at: RunStateInfo,
  event: Pick<RunEvent, 'type' | 'attempt'> & { readonly [field: string]: unknown },
): RunStateInfo | undefined {
  if (event.type === 'runner_start')
    return event.attempt === at.attempt + 1 && at.state !== 'completed' && !isActive(at.state)
      ? { state: 'running', attempt: event.attempt, open: [] }
      : undefined
  if (event.type === 'runner_end') return endRun(at, event['state'])
  // A run that never started can be told about, and end, but nothing of a tool belongs to it.
  if (at.state === 'queued') return event.type.startsWith('runner_') ? at : undefined
  if (isFinished(at.state)) return undefined
  if (event.type === 'action_required') return openQuestion(at, event['interaction'])
  if (event.type === 'runner_log' && isObject(event['answer']))
    return closeQuestion(at, event['answer']['id'])
  return at
}

function isActive(state: RunState): boolean {
  return state === 'running' || state === 'waiting_ai'
}

function endRun(at: RunStateInfo, state: unknown): RunStateInfo | undefined {
  if (
    isFinished(at.state) ||
    (state !== 'completed' && state !== 'failed' && state !== 'cancelled')
  )
    return undefined
  return at.state === 'queued' && state === 'completed'
    ? undefined
    : { state, attempt: at.attempt, open: [] }
}

// The runner gives every question that has to be answered an interaction with an id; others are
// told and pass.
function openQuestion(at: RunStateInfo, interaction: unknown): RunStateInfo {
  const id = isObject(interaction) ? interaction['id'] : undefined
  return typeof id === 'string' ? { ...at, state: 'waiting_ai', open: [...at.open, id] } : at
}

function closeQuestion(at: RunStateInfo, id: unknown): RunStateInfo {
  const open = at.open.filter((one) => one !== id)
  return { ...at, open, state: open.length === 0 ? 'running' : 'waiting_ai' }
}
