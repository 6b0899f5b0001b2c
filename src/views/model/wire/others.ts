import type { Plan } from '../../../contract/plan.ts'
import type { RunState } from '../../../contract/run-state.ts'
import type { OpenQuestion } from '../summary/summary.ts'
import type { RunRow, StateCounts } from './run-row.ts'

/** What a page has to know about its server. */
export type About = {
  readonly name: string
  readonly version: string
  readonly project: string
  readonly runs_folder: string
  readonly read_only: boolean
  /** Another one means that the server was started anew. */ readonly epoch: string
  readonly now: string
}

/** A question and who answered it. */
export type Decision = {
  readonly run_id: string
  readonly tool: string
  readonly workflow?: string
  readonly run_state: RunState
  readonly question: OpenQuestion
  readonly asked: string
  readonly deadline?: string
  readonly answered?: {
    readonly at: string
    readonly by?: string
    readonly value?: unknown
    readonly note?: string
  }
  readonly withdrawn?: true
}
export type DecisionList = {
  readonly open: readonly Decision[]
  /** The newest first. */ readonly past: readonly Decision[]
}

/** A plan, and where it stands: in a run or in a file of `toolable plan`. */
export type ShownPlan = {
  readonly plan: Plan
  readonly run?: RunRow
  readonly file?: string
  readonly changed: string
}
export type PlanList = { readonly plans: readonly ShownPlan[] }

/** How this machine and this project are. */
export type DoctorReport = {
  readonly level: string
  readonly enough: boolean
  readonly findings: readonly {
    readonly id: string
    readonly part: string
    readonly status: 'ok' | 'missing' | 'broken'
    readonly found: string
    readonly fix?: string
  }[]
  readonly disk: {
    readonly folder: string
    readonly runs: number
    readonly bytes: number
    /** Runs that `clean` would remove, and what that frees. */ readonly old: {
      readonly runs: number
      readonly bytes: number
      readonly days: number
    }
  }
  readonly agents: readonly {
    readonly name: string
    readonly found: boolean
    readonly installed: boolean
    readonly command?: string
  }[]
  readonly version: string
  readonly node: string
}

/** News of the list of runs. */
export type RowsNews = {
  readonly rows: readonly RunRow[]
  readonly removed: readonly string[]
  readonly counts: StateCounts
  /** Open questions. */ readonly open: number
  readonly total: number
}

/** What a start, a retry or a resume gives. */
export type Started = { readonly run_id: string }

/** Why something was refused, as every surface says it. */
export type Refusal = {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly suggestion?: { readonly fix?: string; readonly example?: string }
    readonly field?: string
  }
}
