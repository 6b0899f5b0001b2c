import type { RunRequest } from '../../runner/run-request.ts'
import type { RunSummary } from '../../views/model/summary/summary.ts'
import type { ShownSteps } from '../../workflow/run/read-workflow-run.ts'

/** A run with where it is and what was asked of it. */
export type ShownRun = RunSummary & {
  readonly args: readonly string[]
  readonly folder: string
  /** The command that goes on with it, where it is over and one can. */ readonly go_on?: string
  /** Who asked for it. */ readonly caller?: string
  /** The run that this one is a step of. */ readonly parent?: RunRequest['parent']
} & /** Of a workflow. */ Partial<ShownSteps>
