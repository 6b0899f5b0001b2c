import type { RunState } from '../../../contract/run-state.ts'

/** A run as lists show it: of bounded size, so that ten thousand of them fit into memory and into a page. */
export type RunRow = {
  readonly run_id: string
  /** `<source>.<tool>`, or `workflow.<name>` for an execution. */
  readonly tool: string
  /** The name of the workflow, where it is an execution of one. */
  readonly workflow?: string
  readonly state: RunState
  readonly attempt: number
  readonly created: string
  readonly started?: string
  readonly ended?: string
  readonly duration_s?: number
  /** Who asked for it: `person`, `dashboard`, `mcp`, `workflow`, or the name of an agent. */
  readonly caller?: string
  /** What went wrong. */
  readonly code?: string
  readonly message?: string
  /** The last thing that was said, signs of life aside. */
  readonly last?: string
  /** A true percentage of the tool, while it runs. */
  readonly percent?: number
  readonly step?: string
  /** When it was heard of last, signs of life included. */
  readonly heard?: string
  /** Seconds of silence that it may keep; absent where nobody counts them. */
  readonly grace_s?: number
  /** When it will be ended, while it runs. */
  readonly deadline?: string
  /** Open questions, and artifacts that were kept. */
  readonly questions: number
  readonly artifacts: number
  readonly parent?: { readonly run_id: string; readonly step: string }
  /** It has no folder: a program executes it by records in a journal. */
  readonly light?: true
}

/** How many runs there are in each state, all filters but that of the state applied. */
export type StateCounts = { readonly [state in RunState]: number }

/** A page of runs, newest first. */
export type RunPage = {
  readonly rows: readonly RunRow[]
  readonly counts: StateCounts
  /** Runs that fit the filter, shown or not. */
  readonly matching: number
  readonly total: number
  /** Where the next page begins; absent on the last one. */
  readonly next?: string
  /** False while the folder is still being read: older runs will come. */
  readonly complete: boolean
}
