import type { RunState } from '../../contract/run-state.ts'
import type { Paint } from '../../surfaces/cli/output/color.ts'

/** The colour of each state; the word always stands beside it. */
export const STATE_COLORS = {
  queued: 'dim',
  running: 'cyan',
  waiting_ai: 'yellow',
  completed: 'green',
  failed: 'red',
  cancelled: 'yellow',
} as const

/** A state in its colour. */
export function paintState(state: RunState, paint: Paint): string {
  return paint(STATE_COLORS[state], state)
}
