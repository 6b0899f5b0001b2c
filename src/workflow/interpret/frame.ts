import type { Step, Workflow } from '../definition/workflow-type.ts'
import type { DurableContext } from '../engines/engine-type.ts'
import type { Scope, StepRecord } from '../expressions/scope-type.ts'
import type { Flow } from './flow.ts'

/** Steps that take back what another one did, with what they may refer to. */
export type Undo = { readonly steps: readonly Step[]; readonly at: Place }

/** What the steps of one workflow have in common. */
export type Frame = {
  readonly workflow: Workflow
  readonly context: DurableContext
  /** In the order in which their steps were done. */
  readonly undo: Undo[]
  readonly walk: Walk
}

/** How kinds of steps that hold others have them taken. */
export type Walk = {
  step(step: Step, at: Place): Flow<StepRecord>
  /** Gives the result of the last one that was not skipped. */
  steps(steps: readonly Step[], at: Place): Flow<unknown>
  workflow(workflow: Workflow, input: unknown, around: Around): Flow<unknown>
}

/** Where a workflow is followed. */
export type Around = {
  readonly context: DurableContext
  /** The path of what is around it; empty at the top. */
  readonly path: string
  /** Given what takes its steps back, once they are all done. */
  readonly outer?: Undo[]
}

/** The names that steps see; each adds its own when it is done. */
export type OpenScope = Scope & { readonly steps: { [name: string]: StepRecord } }

/** Where in a workflow something is. */
export type Place = {
  readonly frame: Frame
  /** The path of what is around it; empty at the top. */
  readonly path: string
  readonly scope: OpenScope
}

/** One kind of step. `path` is that of the step itself, in this try of it. */
export type StepKind<Kind extends Step = Step> = {
  /** Whether a step that says nothing about it is tried again after a failure that may pass. */
  readonly retries: boolean
  /** Whether the timeout of a step is kept around it; otherwise it keeps its own. */
  readonly timed: boolean
  take(step: Kind, at: Place, path: string, attempt: number): Flow<StepRecord>
}

/** The record of a step that gave something. */
export function succeed(result: unknown, runId?: string): StepRecord {
  return { status: 'ok', result, error: null, ...(runId !== undefined && { run_id: runId }) }
}

/** The path of a step in a list. */
export function pathOf(around: string, name: string): string {
  return around === '' ? name : `${around}/${name}`
}
