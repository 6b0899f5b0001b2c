/**
 * `toolable runs list` and `toolable workflow list`.
 */

import type { ResultRenderer } from '../../cli/formats/envelope.ts'
import { createTextPainter } from '../../cli/formats/terminal-text.ts'
import type { TableOptions } from '../../cli/formats/text.ts'
import { renderTable } from '../../cli/formats/text.ts'
import { toProtocolCode } from '../../protocol/errors.ts'
import type { RunState } from '../../protocol/run-state.ts'
import { isFinished } from '../../protocol/run-state.ts'
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
import { shorten } from '../../util/text.ts'
import { compact } from '../../util/values.ts'
import { formatAgo, formatDuration } from '../../views/model/format.ts'
import type { RunIdentity, RunSummary } from '../../views/model/run-summary.ts'
import { listInlineExecutions } from '../../workflow/embedded/find-executions.ts'
import { getInlinePaths } from '../../workflow/embedded/segment-files.ts'
import type { Execution } from '../../workflow/engine.ts'
import type { CommandContext } from '../command.ts'
import { getDurationSeconds, joinLines, STATE_COLORS } from './event-lines.ts'

type ListRunsInput = {
  readonly state?: readonly RunState[]
  readonly tool?: string
  readonly limit: number
  readonly config?: string
}

/** A run in the list. */
export type ListedRunRow = Pick<
  RunSummary,
  'run_id' | 'tool' | 'state' | 'attempt' | 'created' | 'duration_s' | 'rc'
> & {
  readonly caller?: string
  readonly code?: string
  /** What went wrong. */
  readonly message?: string
  readonly last?: string
  readonly questions?: number
  /** Artifacts of the last attempt. */
  readonly artifacts?: number
}

export type RunListing = {
  readonly runs: readonly ListedRunRow[]
  /** Runs in the folder, shown or not. */
  readonly total: number
  /** Older runs were not looked at, because there are enough. */
  readonly more?: true
  readonly folder: string
}

const READ_BATCH_SIZE = 32
const MAX_MESSAGE_CHARS = 300

/** Lists runs, newest first; what is not shown is not read. */
export async function listRunRows(
  { state, tool, limit, config }: ListRunsInput,
  { cwd }: CommandContext,
): Promise<RunListing> {
  const folder = findRunsFolder(cwd, config)
  await recoverRuns(folder)
  const all = listRuns(folder)
  const runs: ListedRunRow[] = []
  let at = 0
  for (; at < all.length && runs.length < limit; at += READ_BATCH_SIZE) {
    const rows = await Promise.all(
      all.slice(at, at + READ_BATCH_SIZE).map((run) => readRunRow(run, tool)),
    )
    for (const row of rows) if (row && (state?.includes(row.state) ?? true)) runs.push(row)
  }
  return compact({
    runs: runs.slice(0, limit),
    total: all.length,
    more: runs.length > limit || at < all.length ? (true as const) : undefined,
    folder,
  })
}

async function readRunRow(
  { id, paths, created }: ListedRun,
  tool: string | undefined,
): Promise<ListedRunRow | undefined> {
  const request: RunIdentity & Pick<RunRequest, 'caller'> = tryReadRequest(paths) ?? {
    run_id: id,
    tool: '?',
    created: new Date(created).toISOString(),
  }
  if (tool !== undefined && request.tool !== tool && !request.tool.endsWith(`.${tool}`))
    return undefined
  const { questions, error, last, artifacts, duration_s, rc, state, attempt } =
    await readBriefSummary(paths, request)
  return compact({
    run_id: id,
    tool: request.tool,
    state,
    attempt,
    created: request.created,
    caller: request.caller,
    duration_s,
    rc,
    code: error?.code,
    message: error?.message && shorten(error.message, MAX_MESSAGE_CHARS),
    artifacts: artifacts?.length,
    questions: questions.length || undefined,
    last: last && last.text !== '' ? `${last.type}: ${last.text}` : undefined,
  })
}

// One damaged run.json must not hide the other runs.
function tryReadRequest(paths: ListedRun['paths']): RunRequest | undefined {
  try {
    return readRunRequest(paths)
  } catch {
    return undefined
  }
}

/** The list for a person: a table, then how much is not shown. */
export const renderRunList: ResultRenderer = (result, { columns, color }) => {
  const paint = createTextPainter(color)
  const { runs, total, more, folder } = result as RunListing
  if (total === 0) return `no runs in ${folder}\n`
  if (runs.length === 0) return `none of the ${total} runs is like that\n`
  const rows = runs.map((run) => ({
    ...toStateCells(run),
    tool: run.tool,
    caller: run.caller,
    ...toTimeCells(run),
    attempts: run.attempt > 1 ? run.attempt : undefined,
    artifacts: run.artifacts,
    last: getLastText(run),
  }))
  const hint = `older runs are not shown: toolable runs list --limit ${total}`
  return joinLines([
    ...renderTable(rows, { columns, paint }, RUN_COLUMNS),
    ...(more ? ['', paint('dim', hint)] : []),
  ])
}

/** How tables of runs are laid out: ids and states are never cut. */
const RUN_COLUMNS: TableOptions = {
  whole: ['run', 'state', 'started', 'duration'],
  right: ['duration'],
  spare: ['questions', 'artifacts', 'caller', 'attempts', 'last', 'duration', 'started'],
  style(key, row) {
    if (key === 'state') return STATE_COLORS[row['state'] as RunState]
    return key === 'started' ? 'dim' : undefined
  },
}

type TableCells = { readonly [column: string]: unknown }

// Every list begins with these columns, as in the dashboard; the id comes first.
function toStateCells({ run_id, state }: Pick<ListedRunRow, 'run_id' | 'state'>): TableCells {
  return { run: run_id, state }
}

function toTimeCells({
  created,
  duration_s,
}: Pick<ListedRunRow, 'created' | 'duration_s'>): TableCells {
  return {
    started: formatAgo(Date.parse(created), Date.now()),
    duration: duration_s === undefined ? '' : formatDuration(duration_s),
  }
}

function getLastText({ state, code, message, last }: ListedRunRow): string {
  if (!isFinished(state)) return last ?? ''
  return [code, message].filter((part) => part !== undefined).join(' ')
}

type ListExecutionsInput = {
  readonly name?: string
  readonly state?: readonly RunState[]
  readonly limit: number
  readonly config?: string
}

/** An execution in the list. */
type ExecutionRow = Pick<
  ListedRunRow,
  'run_id' | 'state' | 'created' | 'duration_s' | 'code' | 'questions'
> & { readonly name: string }

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
  { cwd }: CommandContext,
): Promise<ExecutionListing> {
  const folder = findRunsFolder(cwd, config)
  await recoverRuns(folder)
  const isWanted = (row: ExecutionRow): boolean => state?.includes(row.state) ?? true
  const inline = (await listInlineExecutions(getInlinePaths(folder), new Map(), compact({ name })))
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
  const all = [...inline, ...runs].sort(compareNewestFirst)
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
  const request = tryReadRequest(paths)
  if (request?.command !== 'workflow') return undefined
  const name = String(request.workflow?.definition['name'] ?? request.tool)
  if (wanted !== undefined && wanted !== name) return undefined
  const { created } = request
  const { state, duration_s, error, questions } = await readBriefSummary(paths, request)
  return compact({
    run_id: id,
    name,
    state,
    created,
    duration_s,
    code: error?.code,
    questions: questions.length || undefined,
  })
}

function toExecutionRow(execution: Execution): ExecutionRow {
  const { id, name, state, created, error, questions } = execution
  return compact({
    run_id: id,
    name,
    state,
    created,
    duration_s: getDurationSeconds(execution),
    code: error && toProtocolCode(error.code, error.retryable),
    questions: questions?.length || undefined,
  })
}

/** The executions for a person. */
export const renderExecutions: ResultRenderer = (result, { columns, color }) => {
  const paint = createTextPainter(color)
  const { executions, more, folder } = result as ExecutionListing
  if (executions.length === 0) return `no executions of workflows in ${folder}\n`
  const rows = executions.map((execution) => ({
    ...toStateCells(execution),
    workflow: execution.name,
    ...toTimeCells(execution),
    questions: execution.questions,
    last: execution.code,
  }))
  const hint = 'older ones are not shown: toolable workflow list --limit 1000'
  return joinLines([
    ...renderTable(rows, { columns, paint }, RUN_COLUMNS),
    ...(more ? ['', paint('dim', hint)] : []),
  ])
}
