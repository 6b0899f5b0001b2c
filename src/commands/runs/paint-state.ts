import type { RunState } from '../../contract/run-state.ts'
import type { Paint } from '../../surfaces/cli/output/color.ts'

const COLORS = { queued: 'dim', running: 'cyan', waiting_ai: 'yellow', completed: 'green', failed: 'red', cancelled: 'yellow' } as const

/** A state in its colour. */
export function paintState(state: RunState, paint: Paint): string {
  return paint(COLORS[state], state)
}
