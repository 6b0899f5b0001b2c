import type { StartSubject } from '../../runner/attempt/subject.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { StepCall, StepHost } from './step-host.ts'

/** What the tool of a step is as a run of its own: a program, or another workflow. */
export type ChildWork = {
  readonly runId: string
  request(paths: RunPaths): Promise<RunRequest>
  /** What is run where it is no program. */
  start?(paths: RunPaths, request: RunRequest): StartSubject
}

/** A step whose tool is a run of its own. */
export type ChildStep = {
  readonly host: StepHost
  readonly call: StepCall
  readonly work: ChildWork
  readonly signal: AbortSignal
}
