import type { Answerer } from '../../contract/interaction.ts'
import type { RunState } from '../../contract/run-state.ts'
import type { Registry } from '../../registry/registry-type.ts'
import type { BuiltWorkflow } from '../build/built-type.ts'
import type { WorkflowData } from '../definition/workflow-type.ts'
import type { Execution, ExecutionHandle, StartOptions } from '../engines/engine-type.ts'

export type WorkflowHostOptions = {
  /** Where the tools of steps are found. */
  readonly registry: Registry
  /** Where executions are recorded; default: `.runs` beside the configuration. */
  readonly folder?: string
  /** Answers questions of workflows and their tools; without it they wait for `answer()` or `toolable answer`. */
  readonly answer?: Answerer
  /** Goes on with what a process that died has left of executions that were started here; default true. */
  readonly resume?: boolean
  /** What relative paths mean; default: the directory of the process. */
  readonly cwd?: string
  /** The environment of the host; default: that of the process. */
  readonly env?: { readonly [name: string]: string | undefined }
}

/** A workflow in any form: written in TypeScript, as data, or the path of a file. */
export type AnyWorkflow = BuiltWorkflow | WorkflowData | string

/** Executes workflows so that they survive the process. */
export type Workflows = {
  /** Starts an execution. Throws CONFIG for a definition that cannot work, INVALID_INPUT for an input that does not fit. With the id of one that was started already that one is joined. */
  start<Input, Result>(
    workflow: BuiltWorkflow<Input, Result>,
    input?: Input,
    options?: StartOptions,
  ): Promise<ExecutionHandle>
  start(workflow: AnyWorkflow, input?: unknown, options?: StartOptions): Promise<ExecutionHandle>
  /** Answers a question; the first answer wins. Throws NOT_FOUND, PRECONDITION, CONFLICT, or INVALID_INPUT for an answer that does not fit. */
  answer(id: string, question: string, value: unknown): Promise<void>
  /** Has an execution take back what it did, and end. */
  cancel(id: string, reason?: string): Promise<void>
  get(id: string): Promise<Execution | undefined>
  /** Newest first. */
  list(filter?: {
    readonly name?: string
    readonly state?: RunState
    readonly limit?: number
  }): Promise<readonly Execution[]>
  /** Goes on with what processes that died have left; gives the ids. */
  resume(): Promise<readonly string[]>
  /** Stops here; what is not over goes on when it is opened again. */
  close(): Promise<void>
}
