import type { Outcome } from '../../contract/outcome.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { Ending } from '../../runner/attempt/ending/ending.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import { readSummary } from '../../runner/summary/read-summary.ts'
import { AGENT_TOOL } from './agent-tool.ts'

/** The outcome of a run of an agent: its own, unless the runner ended what it would have gone on with. */
export async function concluded(
  paths: RunPaths,
  request: RunRequest,
  ending: Ending,
  outcome: Outcome | undefined,
): Promise<Outcome> {
  if (outcome?.ok && ending.state === 'completed')
    return { ...outcome, result: { ...(outcome.result as object), run_id: paths.id } }
  if (
    outcome &&
    !outcome.ok &&
    (ending.state === 'cancelled') === (outcome.error.code === 'CANCELLED')
  )
    return outcome
  const { error } = await readSummary(paths, request)
  const { code, message, recoverable, retryable, category } = new ToolError(
    error?.code ?? 'INTERNAL',
    error?.message ?? 'the run failed',
  ).toObject()
  return {
    ok: false,
    status: 'error',
    error: {
      code,
      category,
      message,
      recoverable,
      retryable,
      ...(error?.hint !== undefined && {
        suggestion: {
          action: 'retry_with_modified_input',
          fix: error.hint,
          applicability: 'maybe_incorrect',
        },
      }),
    },
    meta: { tool: AGENT_TOOL, duration_ms: 0 },
  }
}
