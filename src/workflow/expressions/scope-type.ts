import type { StepError } from '../engines/engine-type.ts'

/** What an expression knows of a step that came before. A skipped one, and one that failed and was allowed to, has the result null. */
export type StepRecord = {
  readonly status: 'ok' | 'failed' | 'skipped'
  readonly result: unknown
  readonly error: StepError | null
  /** The run of its tool, where it has one. */
  readonly run_id?: string
  /** Of a `parallel` or `each` that went on after failures: the error of each part, or null. */
  readonly errors?: readonly (StepError | null)[]
}

/** The names that expressions may use: `input`, `steps`, and what `each` calls its items. */
export type Scope = {
  readonly input: unknown
  readonly steps: { readonly [name: string]: StepRecord }
  /** `workflow.id` and `workflow.name`. */
  readonly workflow: { readonly id: string; readonly name: string }
  /** Items of the `each` steps around, by their names, and `<name>_index`. */
  readonly items: { readonly [name: string]: unknown }
}
