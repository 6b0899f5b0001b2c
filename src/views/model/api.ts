/**
 * The JSON documents of the dashboard API, as types. They are on the wire: names of fields do not
 * change.
 *
 * A screen that needs new data adds its document here, a method to DashboardBackend
 * (views/server/backend.ts) and a line to ROUTES (views/server/routes.ts).
 */

import type { Plan } from '../../protocol/plan.ts'
import type { RunState } from '../../protocol/run-state.ts'
import type { JsonObject, JsonSchema } from '../../util/values.ts'
import type { RunModel, StepState } from './run-model.ts'
import type { OpenQuestion } from './run-summary.ts'

/**
 * A run as lists show it: of bounded size, so that ten thousand of them fit into memory and into a
 * page.
 */
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

/** What a run was asked to do, with nothing secret in it. */
export type ShownRequest = {
  readonly tool: string
  readonly version?: string
  readonly args: readonly string[]
  readonly input?: JsonObject
  readonly input_schema?: JsonSchema
  readonly cwd: string
  /** The program and its fixed words; absent for what is no program. */
  readonly command?: readonly string[]
  readonly form?: string
  readonly timeout_s?: number
  readonly heartbeat_grace_s?: number
  readonly retries?: number
  readonly allow_level?: string
  readonly permissions?: unknown
  readonly manifest?: string
  /** Names only. */
  readonly secrets: readonly string[]
  readonly answers: readonly string[]
  readonly trace_id?: string
  readonly idempotency_key?: string
  readonly orchestrator?: true
}

/** A file that a run has left. */
export type ShownArtifact = {
  /** Its place in the list, by which it is asked for. */
  readonly index: number
  readonly name: string
  readonly path?: string
  readonly uri?: string
  readonly bytes?: number
  readonly sha256?: string
  readonly type?: string
  readonly attempt?: number
  /** Whether it is kept, so that it can be had. */
  readonly kept: boolean
}

/** What comes of hashing an artifact again. */
export type ArtifactVerification = {
  readonly state: 'same' | 'changed' | 'gone' | 'unknown'
  readonly sha256?: string
}

/** One run, whole but for its events. */
export type RunDetail = {
  readonly row: RunRow
  readonly request: ShownRequest
  /**
   * What its events come to, up to `model.seq`; whoever gets the following ones goes on from there.
   */
  readonly model: RunModel
  /** The command that would start it again. */
  readonly command: string
  /** The command with which it goes on, where there is one. */
  readonly go_on?: string
  readonly folder?: string
  readonly artifacts: readonly ShownArtifact[]
  readonly children: readonly RunRow[]
  readonly workflow?: GraphSource & { readonly name: string; readonly file?: string }
  /** What can be done with it now. */
  readonly can: {
    readonly cancel: boolean
    readonly resume: boolean
    readonly retry: boolean
    readonly answer: boolean
  }
}

/** Some events of a run, in their order. */
export type EventPage = {
  readonly events: readonly JsonObject[]
  /** Events of the run that fit the filter, as far as it is read. */
  readonly matching: number
  readonly total: number
  /** The seq from which the next page would go on; absent at the end. */
  readonly next?: number
}

/** Some lines of a log file of the run. */
export type LogPage = {
  readonly lines: readonly string[]
  /** The number of the first line, from 1. */ readonly first: number
  readonly total: number
  /** Bytes of the file that are not shown because there are too many. */ readonly cut?: number
}

/** A step of a definition, as a graph needs it. */
export type PlannedNode = {
  /** Its key; `*` stands for the position of an item. */
  readonly key: string
  readonly kind: string
  readonly depth: number
  readonly role: 'step' | 'finally' | 'compensate'
  readonly tool?: string
  readonly command?: string
  readonly question?: string
  readonly workflow?: string
  /** What it does, in words, for kinds without a field of their own. */
  readonly text?: string
  readonly when?: string
  /** What has to be there before it: `steps.scan`, `input.root`. */
  readonly needs: readonly string[]
  readonly input?: unknown
  readonly timeout?: number
  readonly concurrency?: number
  readonly retry?: unknown
  readonly on_error?: string
}

/** What a graph is drawn from. */
export type GraphSource = { readonly steps: readonly PlannedNode[] }

/** A workflow in the list. */
export type WorkflowRow = {
  readonly id: string
  readonly name: string
  readonly summary: string
  readonly file?: string
  readonly steps: number
  readonly runs: number
  readonly failed: number
  readonly latest?: RunRow
  /** Why it cannot be run. */ readonly problem?: string
}

/** One workflow: what it is, and how it went. */
export type WorkflowDetail = {
  readonly row: WorkflowRow
  /** The definition as it is written, and in which language. */
  readonly source: string
  readonly language: 'yaml' | 'json' | 'typescript'
  readonly graph: GraphSource
  readonly plan: string
  readonly input_schema?: JsonSchema
  /** The last runs, newest first, and how each step of theirs stands. */
  readonly grid: {
    readonly steps: readonly string[]
    readonly runs: readonly {
      readonly row: RunRow
      readonly states: { readonly [step: string]: StepState }
    }[]
  }
}

/** A tool in the list. */
export type ToolRow = {
  readonly id: string
  readonly name: string
  readonly summary: string
  readonly source: string
  /** How it was found: 'fractalic manifest', 'mcp server' ... */
  readonly kind: string
  readonly tier: string
  readonly version?: string
  readonly location?: string
  readonly tags: readonly string[]
  readonly shadowed_by?: string
  readonly destructive?: true
  readonly readonly?: true
  /**
   * What it may do, in words: `read src/**`, `egress api.example.com:443`; absent where nobody has
   * said.
   */
  readonly permissions?: readonly string[]
  readonly health: { readonly state: 'ok' | 'warning' | 'broken'; readonly reason?: string }
  /** Runs of the last seven days, the oldest first. */
  readonly week: readonly { readonly ok: number; readonly failed: number }[]
  readonly runs: number
  readonly p50_s?: number
}

/** Something that is no tool, or a tool with something wrong about it. */
export type ToolProblem = {
  readonly source: string
  readonly location: string
  readonly reason: string
  readonly message: string
  readonly fix: string
  readonly severity: 'error' | 'warning'
}

export type ToolList = {
  readonly tools: readonly ToolRow[]
  readonly problems: readonly ToolProblem[]
  readonly sources: readonly {
    readonly name: string
    readonly kind: string
    readonly location: string
    readonly tools: number
    readonly problems: number
  }[]
}

/** One tool in its four forms. */
export type ToolDetail = {
  readonly row: ToolRow
  readonly description?: string
  readonly help: string
  readonly input_schema: JsonSchema
  readonly output_schema?: JsonSchema
  readonly mcp: JsonObject
  readonly skill: string
  readonly examples: readonly {
    readonly description?: string
    readonly input?: JsonObject
    readonly args?: readonly string[]
  }[]
  readonly errors: readonly { readonly code: string; readonly description?: string }[]
  readonly permissions?: unknown
  readonly notes: readonly string[]
  readonly dry_run: boolean
  readonly destructive: boolean
  readonly recent: readonly RunRow[]
}

/** What an input would mean, before anything is run. */
export type InputPreview = {
  readonly ok: boolean
  readonly problems: readonly { readonly path: string; readonly message: string }[]
  /** The equal command line. */ readonly command: string
  readonly json: string
}

/** What a page has to know about its server. */
export type DashboardInfo = {
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
export type RunListChanges = {
  readonly rows: readonly RunRow[]
  readonly removed: readonly string[]
  readonly counts: StateCounts
  /** Open questions. */ readonly open: number
  readonly total: number
}

/** What a start, a retry or a resume gives. */
export type StartedRun = { readonly run_id: string }

/** Why something was refused, as every surface says it. */
export type ApiRefusal = {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly suggestion?: { readonly fix?: string; readonly example?: string }
    readonly field?: string
  }
}
