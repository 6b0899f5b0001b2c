import type { RunState } from '../../contract/run-state.ts'
import { protocolName } from '../../contract/errors.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { listRuns } from '../../runner/folder/list-runs.ts'
import type { ListedRun } from '../../runner/folder/list-runs.ts'
import { readRequest } from '../../runner/folder/open-run.ts'
import { recover } from '../../runner/folder/recover.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import { glance } from '../../runner/summary/read-summary.ts'
import { lightPaths } from '../../workflow/engines/embedded/light/light-paths.ts'
import { listExecutions as listLight } from '../../workflow/engines/embedded/light/look-up.ts'
import type { Execution } from '../../workflow/engines/engine-type.ts'

type Input = { readonly name?: string; readonly state?: readonly RunState[]; readonly limit: number; readonly config?: string }

/** An execution in the list. */
export type ExecutionRow = { readonly run_id: string; readonly name: string; readonly state: RunState; readonly created: string; readonly duration_s?: number; readonly code?: string; readonly questions?: number }

export type ExecutionListing = { readonly executions: readonly ExecutionRow[]; readonly more?: true; readonly folder: string }

const AT_ONCE = 32

/** Lists executions of workflows, newest first: runs, and what programs execute without a folder for each. Of runs that are not shown nothing is read. */
export async function listExecutions({ name, state, limit, config }: Input, { cwd }: { readonly cwd: string }): Promise<ExecutionListing> {
  const folder = findRunsFolder(cwd, config)
  await recover(folder)
  const isWanted = (row: ExecutionRow): boolean => state === undefined || state.includes(row.state)
  const light = (await listLight(lightPaths(folder), new Map(), { ...(name !== undefined && { name }) })).map(rowOf).filter(isWanted).slice(0, limit + 1)
  const runs = await readRuns(listRuns(folder), name, isWanted, limit + 1)
  const all = [...light, ...runs].sort((left, right) => (left.created < right.created ? 1 : left.created > right.created ? -1 : 0))
  return { executions: all.slice(0, limit), ...(all.length > limit && { more: true as const }), folder }
}

async function readRuns(all: readonly ListedRun[], name: string | undefined, isWanted: (row: ExecutionRow) => boolean, most: number): Promise<ExecutionRow[]> {
  const found: ExecutionRow[] = []
  for (let at = 0; at < all.length && found.length < most; at += AT_ONCE) {
    const rows = await Promise.all(all.slice(at, at + AT_ONCE).map((run) => readRow(run, name)))
    found.push(...rows.flatMap((row) => (row && isWanted(row) ? [row] : [])))
  }
  return found
}

async function readRow({ id, paths }: ListedRun, wanted: string | undefined): Promise<ExecutionRow | undefined> {
  const request = readQuietly(paths)
  const name = request?.command === 'workflow' ? String(request.workflow?.definition['name'] ?? request.tool) : undefined
  if (!request || name === undefined || (wanted !== undefined && wanted !== name)) return undefined
  const { state, duration_s, error, questions } = await glance(paths, request)
  return { run_id: id, name, state, created: request.created, ...(duration_s !== undefined && { duration_s }), ...(error && { code: error.code }), ...(questions.length > 0 && { questions: questions.length }) }
}

function rowOf({ id, name, state, created, ended, error, questions }: Execution): ExecutionRow {
  const seconds = ended === undefined ? NaN : (Date.parse(ended) - Date.parse(created)) / 1000
  return { run_id: id, name, state, created, ...(seconds >= 0 && { duration_s: seconds }), ...(error && { code: protocolName(error.code, error.retryable) }), ...(questions && questions.length > 0 && { questions: questions.length }) }
}

function readQuietly(paths: ListedRun['paths']): RunRequest | undefined {
  try {
    return readRequest(paths)
  } catch {
    return undefined
  }
}
