import type { ProtocolLine } from './events.ts'
import { isObject } from './json.ts'

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

/** A line of a run's log: what the tool or the runner said, in the order in which it was recorded. */
export type RunEvent = ProtocolLine & {
  /** 1 for the first line of the run, then without a gap. */
  readonly seq: number
  /** 1 for the first start of the tool, one more for each that follows. */
  readonly attempt: number
}

/** Whether a run in that state is over; only `resume` and a retry lead out of it. */
export function isOver(state: RunState): boolean {
  return state === 'completed' || state === 'failed' || state === 'cancelled'
}

/** What a run knows about where it stands: its state, its attempt, and the questions that nobody has answered yet. */
export type RunStanding = {
  readonly state: RunState
  readonly attempt: number
  readonly open: readonly string[]
}

/** Where every run begins. */
export const QUEUED: RunStanding = { state: 'queued', attempt: 0, open: [] }

/** The one transition of a run: where it stands after an event. Undefined for an event that may not happen there. */
export function transition(
  at: RunStanding,
  event: Pick<RunEvent, 'type' | 'attempt'> & { readonly [field: string]: unknown },
): RunStanding | undefined {
  if (event.type === 'runner_start')
    return event.attempt === at.attempt + 1 && at.state !== 'completed' && !isLive(at.state)
      ? { state: 'running', attempt: event.attempt, open: [] }
      : undefined
  if (event.type === 'runner_end') return endsAs(at, event['state'])
  // A run that never started can be told about, and end, but nothing of a tool belongs to it.
  if (at.state === 'queued') return event.type.startsWith('runner_') ? at : undefined
  if (isOver(at.state)) return undefined
  if (event.type === 'action_required') return wait(at, event['interaction'])
  if (event.type === 'runner_log' && isObject(event['answer']))
    return goOn(at, event['answer']['id'])
  return at
}

function isLive(state: RunState): boolean {
  return state === 'running' || state === 'waiting_ai'
}

function endsAs(at: RunStanding, state: unknown): RunStanding | undefined {
  if (isOver(at.state) || (state !== 'completed' && state !== 'failed' && state !== 'cancelled'))
    return undefined
  return at.state === 'queued' && state === 'completed'
    ? undefined
    : { state, attempt: at.attempt, open: [] }
}

// The runner gives every question that has to be answered an interaction with an id; others are told and pass.
function wait(at: RunStanding, interaction: unknown): RunStanding {
  const id = isObject(interaction) ? interaction['id'] : undefined
  return typeof id === 'string' ? { ...at, state: 'waiting_ai', open: [...at.open, id] } : at
}

function goOn(at: RunStanding, id: unknown): RunStanding {
  const open = at.open.filter((one) => one !== id)
  return { ...at, open, state: open.length === 0 ? 'running' : 'waiting_ai' }
}
