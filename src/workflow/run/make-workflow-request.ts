import type { JsonObject } from '../../contract/json.ts'
import { joinTrace } from '../../runner/trace/join-trace.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import { hashWorkflow } from '../definition/hash-workflow.ts'
import type { Workflow } from '../definition/workflow-type.ts'

/** How an execution is asked for, besides its definition and its input. */
export type WorkflowOptions = {
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
  /** Seconds for the whole; absent: as the definition says. */
  readonly timeout?: number | undefined
  readonly answers?: RunRequest['answers']
  readonly typedAnswers?: RunRequest['typed_answers']
  readonly surroundings?: RunRequest['surroundings']
  /** The file that the definition was read from. */
  readonly file?: string | undefined
  /** The server that executes it, where it is not executed here. */
  readonly server?: NonNullable<RunRequest['workflow']>['server'] | undefined
  /** Who asks, for the record. */
  readonly caller?: string | undefined
}

/** The name of a workflow where tools have theirs. */
export function toolNameOf(name: string): string {
  return `workflow.${name}`
}

/** The request for the run of a workflow. Its deadline is that of the caller alone: the definition's own is kept by the interpreter, across restarts. */
export function makeWorkflowRequest(
  runId: string,
  workflow: Workflow,
  input: JsonObject,
  { cwd, env, timeout, answers, typedAnswers, surroundings, file, server, caller }: WorkflowOptions,
): RunRequest {
  return {
    v: 1,
    run_id: runId,
    tool: toolNameOf(workflow.name),
    ...(workflow.version !== undefined && { version: workflow.version }),
    created: new Date().toISOString(),
    ...(caller !== undefined && { caller }),
    args: [],
    input,
    command: 'workflow',
    workflow: {
      definition: workflow,
      hash: hashWorkflow(workflow),
      ...(file !== undefined && { file }),
      ...(server && { server }),
    },
    ...(surroundings && { surroundings }),
    cwd,
    ...(timeout !== undefined && { timeout_s: timeout }),
    heartbeat_grace_s: 90,
    retries: 0,
    ...joinTrace(env),
    idempotency_key: runId,
    ...(answers && { answers }),
    ...(typedAnswers && { typed_answers: typedAnswers }),
  }
}
