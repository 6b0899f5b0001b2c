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
import { newestFirst, readNewest } from '../../workflow/host/read-newest.ts'

type Input = {
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

/** Lists executions of workflows, newest first: runs, and what programs execute without a folder for each. Of runs that are not shown nothing is read. */
export async function listExecutions(
  { name, state, limit, config }: Input,
  { cwd }: { readonly cwd: string },
): Promise<ExecutionListing> {
  const folder = findRunsFolder(cwd, config)
  await recover(folder)
  const isWanted = (row: ExecutionRow): boolean => state === undefined || state.includes(row.state)
  const light = (
    await listLight(lightPaths(folder), new Map(), { ...(name !== undefined && { name }) })
  )
    .map(rowOf)
    .filter(isWanted)
    .slice(0, limit + 1)
  const runs = await readNewest(
    listRuns(folder),
    async (run) => {
      const row = await readRow(run, name)
      return row && isWanted(row) ? row : undefined
    },
    limit + 1,
  )
  const all = [...light, ...runs].sort(newestFirst)
  return {
    executions: all.slice(0, limit),
    ...(all.length > limit && { more: true as const }),
    folder,
  }
}

async function readRow(
  { id, paths }: ListedRun,
  wanted: string | undefined,
): Promise<ExecutionRow | undefined> {
  const request = readQuietly(paths)
  const name =
    request?.command === 'workflow'
      ? String(request.workflow?.definition['name'] ?? request.tool)
      : undefined
  if (!request || name === undefined || (wanted !== undefined && wanted !== name)) return undefined
  const { state, duration_s, error, questions } = await glance(paths, request)
  return {
    run_id: id,
    name,
    state,
    created: request.created,
    ...(duration_s !== undefined && { duration_s }),
    ...(error && { code: error.code }),
    ...(questions.length > 0 && { questions: questions.length }),
  }
}

function rowOf({ id, name, state, created, ended, error, questions }: Execution): ExecutionRow {
  const seconds = ended === undefined ? NaN : (Date.parse(ended) - Date.parse(created)) / 1000
  return {
    run_id: id,
    name,
    state,
    created,
    ...(seconds >= 0 && { duration_s: seconds }),
    ...(error && { code: protocolName(error.code, error.retryable) }),
    ...(questions && questions.length > 0 && { questions: questions.length }),
  }
}

function readQuietly(paths: ListedRun['paths']): RunRequest | undefined {
  try {
    return readRequest(paths)
  } catch {
    return undefined
  }
}
