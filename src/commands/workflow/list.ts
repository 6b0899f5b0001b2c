import type { RunState } from '../../contract/run-state.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { listRuns } from '../../runner/folder/list-runs.ts'
import type { ListedRun } from '../../runner/folder/list-runs.ts'
import { readRequest } from '../../runner/folder/open-run.ts'
import { recover } from '../../runner/folder/recover.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import { glance } from '../../runner/summary/read-summary.ts'

type Input = { readonly name?: string; readonly state?: readonly RunState[]; readonly limit: number; readonly config?: string }

/** An execution in the list. */
export type ExecutionRow = { readonly run_id: string; readonly name: string; readonly state: RunState; readonly created: string; readonly duration_s?: number; readonly code?: string; readonly questions?: number }

export type ExecutionListing = { readonly executions: readonly ExecutionRow[]; readonly more?: true; readonly folder: string }

const AT_ONCE = 32

/** Lists executions of workflows, newest first; what is not shown is not read. */
export async function listExecutions({ name, state, limit, config }: Input, { cwd }: { readonly cwd: string }): Promise<ExecutionListing> {
  const folder = findRunsFolder(cwd, config)
  await recover(folder)
  const all = listRuns(folder)
  const executions: ExecutionRow[] = []
  let at = 0
  for (; at < all.length && executions.length <= limit; at += AT_ONCE) {
    const rows = await Promise.all(all.slice(at, at + AT_ONCE).map((run) => readRow(run, name)))
    executions.push(...rows.flatMap((row) => (row && (state === undefined || state.includes(row.state)) ? [row] : [])))
  }
  return { executions: executions.slice(0, limit), ...(executions.length > limit && { more: true as const }), folder }
}

async function readRow({ id, paths }: ListedRun, wanted: string | undefined): Promise<ExecutionRow | undefined> {
  const request = readQuietly(paths)
  const name = request?.command === 'workflow' ? String(request.workflow?.definition['name'] ?? request.tool) : undefined
  if (!request || name === undefined || (wanted !== undefined && wanted !== name)) return undefined
  const { state, duration_s, error, questions } = await glance(paths, request)
  return { run_id: id, name, state, created: request.created, ...(duration_s !== undefined && { duration_s }), ...(error && { code: error.code }), ...(questions.length > 0 && { questions: questions.length }) }
}

function readQuietly(paths: ListedRun['paths']): RunRequest | undefined {
  try {
    return readRequest(paths)
  } catch {
    return undefined
  }
}
