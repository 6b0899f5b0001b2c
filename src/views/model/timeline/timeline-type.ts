import type { RunState } from '../../../contract/run-state.ts'
import type { Mark, StepState } from '../run-model/run-model-type.ts'

/** A stretch of time, in milliseconds. */
export type Stretch = { readonly from: number; readonly to: number }

/** A stretch of a row in a state; `open` where it has not ended. */
export type Bar = Stretch & { readonly state: StepState | RunState; readonly open: boolean }

/** A line of a timeline: a start of the tool, a step, or a run that it started. */
export type TimelineRow = {
  /** `attempt 2`, the key of a step, the id of a run. */
  readonly key: string
  readonly kind: 'attempt' | 'step' | 'child'
  readonly name: string
  readonly depth: number
  readonly state: StepState | RunState
  readonly bars: readonly Bar[]
  readonly marks: readonly Mark[]
  /** The run of the step, to look at. */
  readonly run_id?: string
  readonly error?: string
}

/** A run over time. */
export type Timeline = Stretch & {
  readonly rows: readonly TimelineRow[]
  /** Nothing was heard. */
  readonly silences: readonly Stretch[]
  /** Nothing was done: waiting for its turn, for an answer, for the next attempt. */
  readonly idle: readonly Stretch[]
  /** Where now is, while the run is not over. */
  readonly now?: number
  /** Steps and moments that are not kept because there are too many. */
  readonly more: number
}
