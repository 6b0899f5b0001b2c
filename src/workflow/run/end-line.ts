import { protocolName } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { ToolLine } from '../../runner/output/judge-line.ts'
import type { Settled, StepError } from '../engines/engine-type.ts'

/** The line with which the run of a workflow ends. */
export function endLine(settled: Settled): ToolLine {
  return settled.ok
    ? { type: 'result', status: 'ok', result: settled.value ?? null }
    : failureLine(settled.error)
}

function failureLine({ code, message, retryable, hint, details, run_id }: StepError): ToolLine {
  if (code === 'CANCELLED')
    return { type: 'cancelled', reason: message, ...contextOf(details, run_id) }
  return {
    type: 'error',
    code: protocolName(code, retryable),
    msg: message,
    ...(hint !== undefined && { hint }),
    retryable: false,
    ...contextOf(details, run_id),
  }
}

function contextOf(
  details: JsonObject | undefined,
  runId: string | undefined,
): { readonly context?: JsonObject } {
  return details || runId !== undefined
    ? { context: { ...details, ...(runId !== undefined && { child_run_id: runId }) } }
    : {}
}
