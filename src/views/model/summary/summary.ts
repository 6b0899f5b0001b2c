import type { Plan } from '../../../contract/plan.ts'
import type { RunState } from '../../../contract/run-state.ts'

/** How far a tool says it is. */
export type RunProgress = {
  readonly percent?: number
  readonly message?: string
  readonly step?: string
}

/** A question that nobody has answered yet. */
export type OpenQuestion = {
  readonly id: string
  readonly kind?: string
  readonly prompt?: string
  readonly [field: string]: unknown
}

/** What was wrong, in the words of the tool or of the runner. */
export type RunFailure = {
  readonly code: string
  readonly message?: string
  readonly hint?: string
  /** The step that failed. */ readonly step?: string
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
