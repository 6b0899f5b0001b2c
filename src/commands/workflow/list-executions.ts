/**
 * `toolable workflow list`.
 */

import type { ResultRenderer } from '../../cli/formats/envelope.ts'
import { createTextPainter } from '../../cli/formats/terminal-text.ts'
import { renderTable } from '../../cli/formats/text.ts'
import { toProtocolCode } from '../../protocol/errors.ts'
import type { RunState } from '../../protocol/run-state.ts'
import type { ListedRun } from '../../runner/find-run.ts'
import {
  compareNewestFirst,
  listRuns,
  readNewestRuns,
  readRunRequest,
} from '../../runner/find-run.ts'
import { recoverRuns } from '../../runner/recover.ts'
import type { RunRequest } from '../../runner/request.ts'
import { findRunsFolder } from '../../runner/run-paths.ts'
import { readBriefSummary } from '../../runner/summary.ts'
import { compact } from '../../util/values.ts'
import { listInlineExecutions as listLight } from '../../workflow/embedded/find-executions.ts'
import { getInlinePaths } from '../../workflow/embedded/segment-files.ts'
import type { Execution } from '../../workflow/engine.ts'
import { RUN_COLUMNS, toRunCells } from '../runs/read-runs.ts'

type ListExecutionsInput = {
  readonly name?: string
  readonly state?: readonly RunState[]
  readonly limit: number
  readonly config?: string
}

/** An execution in the list. */
export type ExecutionRow = {
  readonly run_id: string
  readonly name: string
  readonly state: RunState
  readonly created: string
  readonly duration_s?: number
  readonly code?: string
  readonly questions?: number
}

export type ExecutionListing = {
  readonly executions: readonly ExecutionRow[]
  readonly more?: true
  readonly folder: string
}

/**
 * Lists executions of workflows, newest first: runs, and what programs execute without a folder for
 * each. Of runs that are not shown nothing is read.
 */
export async function listWorkflowExecutions(
  { name, state, limit, config }: ListExecutionsInput,
  { cwd }: { readonly cwd: string },
): Promise<ExecutionListing> {
  const folder = findRunsFolder(cwd, config)
  await recoverRuns(folder)
  const isWanted = (row: ExecutionRow): boolean => state === undefined || state.includes(row.state)
  const light = (await listLight(getInlinePaths(folder), new Map(), compact({ name })))
    .map(toExecutionRow)
    .filter(isWanted)
    .slice(0, limit + 1)
  const runs = await readNewestRuns(
    listRuns(folder),
    async (run) => {
      const row = await readExecutionRow(run, name)
      return row && isWanted(row) ? row : undefined
    },
    limit + 1,
  )
  const all = [...light, ...runs].sort(compareNewestFirst)
  return compact({
    executions: all.slice(0, limit),
    more: all.length > limit ? (true as const) : undefined,
    folder,
  })
}

async function readExecutionRow(
  { id, paths }: ListedRun,
  wanted: string | undefined,
): Promise<ExecutionRow | undefined> {
  const request = readRequestOrUndefined(paths)
  const name =
    request?.command === 'workflow'
      ? String(request.workflow?.definition['name'] ?? request.tool)
      : undefined
  if (!request || name === undefined || (wanted !== undefined && wanted !== name)) return undefined
  const { state, duration_s, error, questions } = await readBriefSummary(paths, request)
  return {
    run_id: id,
    name,
    state,
    created: request.created,
    ...compact({
      duration_s,
      code: error ? error.code : undefined,
      questions: questions.length > 0 ? questions.length : undefined,
    }),
  }
}

function toExecutionRow({
  id,
  name,
  state,
  created,
  ended,
  error,
  questions,
}: Execution): ExecutionRow {
  const seconds = ended === undefined ? NaN : (Date.parse(ended) - Date.parse(created)) / 1000
  return compact({
    run_id: id,
    name,
    state,
    created,
    duration_s: seconds >= 0 ? seconds : undefined,
    code: error ? toProtocolCode(error.code, error.retryable) : undefined,
    questions: questions && questions.length > 0 ? questions.length : undefined,
  })
}

function readRequestOrUndefined(paths: ListedRun['paths']): RunRequest | undefined {
  try {
    return readRunRequest(paths)
  } catch {
    return undefined
  }
}

/** The executions for a person. */
export const renderExecutions: ResultRenderer = (result, { columns, color }) => {
  const paint = createTextPainter(color)
  const { executions, more, folder } = result as ExecutionListing
  if (executions.length === 0) return `no executions of workflows in ${folder}\n`
  const now = Date.now()
  const rows = executions.map((execution) => {
    const { first, times } = toRunCells(execution, now)
    return {
      ...first,
      workflow: execution.name,
      ...times,
      questions: execution.questions,
      last: execution.code,
    }
  })
  return [
    ...renderTable(rows, { columns, paint }, RUN_COLUMNS),
    ...(more
      ? ['', paint('dim', 'older ones are not shown: toolable workflow list --limit 1000')]
      : []),
  ]
    .map((line) => `${line}\n`)
    .join('')
}
