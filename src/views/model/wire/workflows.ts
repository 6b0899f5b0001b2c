import type { JsonSchema } from '../../../contract/json.ts'
import type { StepState } from '../run-model/run-model-type.ts'
import type { RunRow } from './run-row.ts'

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
