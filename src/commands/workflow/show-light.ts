import { protocolName } from '../../contract/errors.ts'
import { isRunId } from '../../runner/folder/run-id.ts'
import { findExecution } from '../../workflow/engines/embedded/light/look-up.ts'
import { lightPaths } from '../../workflow/engines/embedded/light/light-paths.ts'
import { toolNameOf } from '../../workflow/run/make-workflow-request.ts'
import type { ShownStep } from '../../workflow/run/read-workflow-run.ts'
import type { ShownRun } from '../runs/shown-run.ts'

/** An execution that has no folder of its own, as a run is shown; undefined where there is none of that id. */
export async function showLight(root: string, id: string): Promise<ShownRun | undefined> {
  const paths = lightPaths(root)
  const found = isRunId(id) ? await findExecution(paths, id) : undefined
  if (!found) return undefined
  const {
    execution: { name, state, created, ended, result, error, questions = [] },
    records,
  } = found
  const all = records().records
  const seconds = ended === undefined ? NaN : (Date.parse(ended) - Date.parse(created)) / 1000
  return {
    run_id: id,
    tool: toolNameOf(name),
    state,
    attempt: 1,
    created,
    started: created,
    ...(ended !== undefined && { ended }),
    ...(seconds >= 0 && { duration_s: seconds }),
    questions,
    ...(result !== undefined && { result }),
    ...(error && {
      error: {
        code: protocolName(error.code, error.retryable),
        message: error.message,
        ...(error.hint !== undefined && { hint: error.hint }),
        ...(typeof error.details?.['step'] === 'string' && { step: error.details['step'] }),
      },
    }),
    events: all.length,
    steps: all.flatMap((record): ShownStep[] =>
      record.t === 'done'
        ? [
            {
              step: record.k,
              state: record.e ? 'failed' : 'ok',
              ...(record.r !== undefined && { run_id: record.r }),
              ...(record.e && { error: record.e.message }),
            },
          ]
        : [],
    ),
    args: [],
    folder: paths.folder,
  }
}
