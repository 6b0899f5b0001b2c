import type { RunRequest } from '../../../../runner/run-request.ts'
import type { ShownRequest } from '../../../model/wire/run-detail.ts'
import { hideArguments, hideInput } from './hide-secrets.ts'

/** What a run was asked to do, for people: of secrets their names, and nothing of the environment. */
export function showRequest(request: RunRequest): ShownRequest {
  const {
    tool,
    version,
    args,
    input,
    inputSchema,
    cwd,
    call,
    timeout_s,
    heartbeat_grace_s,
    retries,
    allow_level,
    permissions,
    manifest,
    secrets = {},
    answers = {},
    trace_id,
    idempotency_key,
    orchestrator,
  } = request
  return {
    tool,
    ...(version !== undefined && { version }),
    args: hideArguments(args, inputSchema),
    ...(input && { input: hideInput(input, inputSchema) }),
    ...(inputSchema && { input_schema: inputSchema }),
    cwd,
    ...(call && {
      command: [...call.command, ...(call.tool === undefined ? [] : [call.tool])],
      form: call.form,
    }),
    ...(timeout_s !== undefined && { timeout_s }),
    ...(heartbeat_grace_s !== undefined && { heartbeat_grace_s }),
    ...(retries !== undefined && { retries }),
    ...(allow_level && { allow_level }),
    ...(permissions && { permissions }),
    ...(manifest !== undefined && { manifest }),
    secrets: Object.keys(secrets),
    answers: Object.keys(answers),
    ...(trace_id !== undefined && { trace_id }),
    ...(idempotency_key !== undefined && { idempotency_key }),
    ...(orchestrator && { orchestrator }),
  }
}
