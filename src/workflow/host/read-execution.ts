import { findRow } from '../../contract/errors.ts'
import { isOver } from '../../contract/run-state.ts'
import { isLive } from '../../runner/folder/lock.ts'
import { readRequest } from '../../runner/folder/open-run.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import { readSummary } from '../../runner/summary/read-summary.ts'
import type { RunSummary } from '../../views/model/summary/summary.ts'
import type { Execution, StepError, WorkflowQuestion } from '../engines/engine-type.ts'
import { readWorkflowRun } from '../run/read-workflow-run.ts'
import { plainCode } from '../steps/step-error.ts'

/** How an execution stands that is a run. Throws CONFIG where the record is not one of ours. */
export async function readExecution(paths: RunPaths): Promise<Execution> {
  const request = readRequest(paths)
  const summary = await readSummary(paths, request)
  const isLeft = isOver(summary.state) && summary.state !== 'completed' && !isLive(paths)
  return describeRun(
    request,
    isLeft ? { ...summary, questions: (await readWorkflowRun(paths)).open } : summary,
  )
}

/** An execution from what a run was asked to do and what became of it. */
export function describeRun(
  { run_id: id, tool, workflow }: RunRequest,
  summary: RunSummary,
): Execution {
  const { state, created, ended, result, questions } = summary
  const error = errorOf(summary)
  return {
    id,
    name: String(workflow?.definition['name'] ?? tool),
    hash: workflow?.hash ?? '',
    state,
    created,
    ...(ended !== undefined && { ended }),
    ...(state === 'completed' && { result: result ?? null }),
    ...(error && { error }),
    ...(questions.length > 0 && { questions: questions as unknown as readonly WorkflowQuestion[] }),
  }
}

function errorOf({ error, state }: RunSummary): StepError | undefined {
  if (!error || state === 'completed') return undefined
  const code = plainCode(error.code)
  return {
    code,
    message: error.message ?? code,
    retryable: findRow(code)?.row.retryable ?? false,
    ...(error.hint !== undefined && { hint: error.hint }),
  }
}
