import {
  baseEnvironment,
  certificateVariables,
  confinedEnvironment,
} from '../../process/base-environment.ts'
import type { Environment } from '../../process/base-environment.ts'
import type { ChildCall } from '../../registry/child/child-call.ts'
import { ownVariables } from '../../registry/child/environment.ts'
import { expandValues } from '../../registry/expand-variables.ts'

/** What a run tells its tool, and where the rest comes from. */
export type RunSurroundings = {
  readonly hostEnv: Environment
  readonly runId: string
  readonly traceId: string
  readonly traceparent?: string | undefined
  readonly workspace: string
  readonly logDir: string
  readonly cancelFile: string
  /** When the tool is ended, wall clock in milliseconds. */
  readonly deadline?: number | undefined
  readonly idempotencyKey: string
  /** In a sandbox: no home, no proxies; `network` says whether it reaches any server. Absent: with the rights of its caller. */
  readonly confined?: { readonly network: boolean } | undefined
}

/** The last moment that a date can name. */
const LAST_DATE = 8.64e15

/** The whole environment of a tool: the base allow-list, what it requires by name, what its configuration gives, and what the run says, which wins. `RUN_STDOUT` is added where the tool is started (`stdoutVariable`). Throws CONFIG for what is required and missing. */
export function toolEnvironment(
  call: Pick<ChildCall, 'env' | 'requireEnv'>,
  run: RunSurroundings,
): { [name: string]: string } {
  const { hostEnv, confined } = run
  const debug = hostEnv['TOOL_DEBUG']
  return {
    ...(confined
      ? {
          ...confinedEnvironment(hostEnv, run.workspace),
          ...(confined.network && certificateVariables(hostEnv)),
        }
      : baseEnvironment(hostEnv)),
    ...(debug !== undefined && { TOOL_DEBUG: debug }),
    // Expanded here and not before, because the request is written down and may hold no secrets.
    ...ownVariables(
      { ...call, env: expandValues(call.env, hostEnv, 'the tool') },
      { env: hostEnv },
    ),
    RUN_ID: run.runId,
    TRACE_ID: run.traceId,
    ...(run.traceparent !== undefined && { TRACEPARENT: run.traceparent }),
    WORKSPACE: run.workspace,
    LOG_DIR: run.logDir,
    CANCEL_FILE: run.cancelFile,
    AI_PROTOCOL_VERSION: '1',
    IDEMPOTENCY_KEY: run.idempotencyKey,
    ...(run.deadline !== undefined && {
      DEADLINE_TS: new Date(Math.min(run.deadline, LAST_DATE)).toISOString(),
    }),
  }
}
