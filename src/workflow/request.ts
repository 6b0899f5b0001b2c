/**
 * The run request of a workflow, and the hash that identifies a definition.
 */

import { createHash } from 'node:crypto'
import type { RunRequest } from '../runner/request.ts'
import { joinTrace } from '../runner/trace-context.ts'
import type { JsonObject } from '../util/values.ts'
import { compact, isObject } from '../util/values.ts'
import type { Workflow } from './definition/model.ts'

/** The options of a run besides its definition and its input. */
export type WorkflowRequestOptions = {
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
export function toWorkflowToolName(name: string): string {
  return `workflow.${name}`
}

/**
 * The request for the run of a workflow. Its deadline is that of the caller alone: the interpreter
 * enforces the one of the definition, across restarts.
 */
export function createWorkflowRequest(
  runId: string,
  workflow: Workflow,
  input: JsonObject,
  {
    cwd,
    env,
    timeout,
    answers,
    typedAnswers,
    surroundings,
    file,
    server,
    caller,
  }: WorkflowRequestOptions,
): RunRequest {
  return {
    v: 1,
    run_id: runId,
    tool: toWorkflowToolName(workflow.name),
    ...compact({ version: workflow.version }),
    created: new Date().toISOString(),
    ...compact({ caller }),
    args: [],
    input,
    command: 'workflow',
    workflow: compact({ definition: workflow, hash: hashWorkflow(workflow), file, server }),
    ...compact({ surroundings }),
    cwd,
    ...compact({ timeout_s: timeout }),
    heartbeat_grace_s: 90,
    retries: 0,
    ...joinTrace(env),
    idempotency_key: runId,
    ...compact({ answers, typed_answers: typedAnswers }),
  }
}

/** The SHA-256 of a workflow in hexadecimal; the order of keys does not matter. */
export function hashWorkflow(workflow: Workflow): string {
  return createHash('sha256').update(toCanonicalJson(workflow)).digest('hex')
}

function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value ?? null)
  const keys = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${toCanonicalJson(value[key])}`).join(',')}}`
}
