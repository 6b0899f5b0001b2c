/**
 * Executions without a folder of their own: showing one as a run, and taking over one whose program
 * died.
 */

import { toProtocolCode } from '../../protocol/errors.ts'
import type { Io } from '../../protocol/io.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { RunRequest } from '../../runner/request.ts'
import { isRunId } from '../../runner/run-paths.ts'
import { compact } from '../../util/values.ts'
import type { RunSummary } from '../../views/model/run-summary.ts'
import { checkTools } from '../../workflow/definition/checks.ts'
import { formatProblem } from '../../workflow/definition/reader.ts'
import { adoptExecution } from '../../workflow/embedded/adopt.ts'
import { findInlineExecution } from '../../workflow/embedded/find-executions.ts'
import { getInlinePaths } from '../../workflow/embedded/segment-files.ts'
import { toWorkflowToolName } from '../../workflow/request.ts'
import type { ShownStep, ShownSteps } from '../../workflow/run-record.ts'
import { withRegistry } from '../config.ts'

/**
 * An execution that has no folder of its own, as a run is shown; undefined where there is none of
 * that id.
 */
export async function showInlineExecution(root: string, id: string): Promise<ShownRun | undefined> {
  const paths = getInlinePaths(root)
  const found = isRunId(id) ? await findInlineExecution(paths, id) : undefined
  if (!found) return undefined
  const {
    execution: { name, state, created, ended, result, error, questions = [] },
    records,
  } = found
  const all = records().records
  const seconds = ended === undefined ? NaN : (Date.parse(ended) - Date.parse(created)) / 1000
  return compact({
    run_id: id,
    tool: toWorkflowToolName(name),
    state,
    attempt: 1,
    created,
    started: created,
    ended,
    duration_s: seconds >= 0 ? seconds : undefined,
    questions,
    result,
    error: error
      ? compact({
          code: toProtocolCode(error.code, error.retryable),
          message: error.message,
          hint: error.hint,
          step: typeof error.details?.['step'] === 'string' ? error.details['step'] : undefined,
        })
      : undefined,
    events: all.length,
    steps: all.flatMap((record): ShownStep[] =>
      record.t === 'done'
        ? [
            compact({
              step: record.k,
              state: record.e ? 'failed' : 'ok',
              run_id: record.r,
              error: record.e ? record.e.message : undefined,
            }),
          ]
        : [],
    ),
    args: [],
    folder: paths.folder,
  })
}

/** A run with where it is and what was asked of it. */
export type ShownRun = RunSummary & {
  readonly args: readonly string[]
  readonly folder: string
  /** The command that goes on with it, where it is over and one can. */ readonly go_on?: string
  /** Who asked for it. */ readonly caller?: string
  /** The run that this one is a step of. */ readonly parent?: RunRequest['parent']
} & /** Of a workflow. */ Partial<ShownSteps>

/**
 * Makes a run of an execution that another program has left, where this project has the tools that
 * it needs. Throws PRECONDITION where it has not: then it is left for that program.
 */
export async function adoptInlineExecution(
  root: string,
  id: string,
  { config }: { readonly config?: string },
  { cwd, env }: Pick<Io, 'cwd' | 'env'>,
): Promise<void> {
  const surroundings = config === undefined ? {} : { config }
  await withRegistry(surroundings, { cwd, env }, (registry) =>
    adoptExecution(root, id, { cwd, env, surroundings }, async ({ definition }) => {
      const {
        problems: [problem],
      } = await checkTools(definition, registry)
      if (problem)
        throw new ToolError(
          'PRECONDITION',
          `it was begun by another program, with tools that are not there: ${formatProblem(problem)}`,
          { suggestion: 'Start that program again: it goes on with it' },
        )
    }),
  )
}
