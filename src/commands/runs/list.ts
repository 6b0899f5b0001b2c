import type { RunState } from '../../contract/run-state.ts'
import { shorten } from '../../contract/shorten.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { listRuns } from '../../runner/folder/list-runs.ts'
import type { ListedRun } from '../../runner/folder/list-runs.ts'
import { readRequest } from '../../runner/folder/open-run.ts'
import { recover } from '../../runner/folder/recover.ts'
import { glance } from '../../runner/summary/read-summary.ts'
import type { RunSummary } from '../../views/model/summary/summary.ts'

type Input = {
  readonly state?: readonly RunState[]
  readonly tool?: string
  readonly limit: number
  readonly config?: string
}

/** A run in the list. */
export type RunRow = Pick<
  RunSummary,
  'run_id' | 'tool' | 'state' | 'attempt' | 'created' | 'duration_s' | 'rc'
> & {
  readonly caller?: string
  readonly code?: string
  /** What went wrong. */ readonly message?: string
  readonly last?: string
  readonly questions?: number
  /** Artifacts of the last attempt. */ readonly artifacts?: number
}

export type RunListing = {
  readonly runs: readonly RunRow[]
  /** Runs in the folder, shown or not. */ readonly total: number
  /** Older runs were not looked at, because there are enough. */ readonly more?: true
  readonly folder: string
}

const AT_ONCE = 32
const LONGEST_MESSAGE = 300

/** Lists runs, newest first; what is not shown is not read. */
export async function listRecords(
  { state, tool, limit, config }: Input,
  { cwd }: { readonly cwd: string },
): Promise<RunListing> {
  const folder = findRunsFolder(cwd, config)
  await recover(folder)
  const all = listRuns(folder)
  const runs: RunRow[] = []
  let at = 0
  for (; at < all.length && runs.length < limit; at += AT_ONCE) {
    const rows = await Promise.all(all.slice(at, at + AT_ONCE).map((run) => readRow(run, tool)))
    runs.push(
      ...rows.flatMap((row) =>
        row && (state === undefined || state.includes(row.state)) ? [row] : [],
      ),
    )
  }
  return {
    runs: runs.slice(0, limit),
    total: all.length,
    ...((runs.length > limit || at < all.length) && { more: true as const }),
    folder,
  }
}

async function readRow(
  { id, paths, created }: ListedRun,
  tool: string | undefined,
): Promise<RunRow | undefined> {
  const request = readQuietly(id, paths, created)
  if (tool !== undefined && request.tool !== tool && !request.tool.endsWith(`.${tool}`))
    return undefined
  const { questions, error, last, artifacts, duration_s, rc, state, attempt } = await glance(
    paths,
    request,
  )
  return {
    run_id: id,
    tool: request.tool,
    state,
    attempt,
    created: request.created,
    ...(request.caller !== undefined && { caller: request.caller }),
    ...(duration_s !== undefined && { duration_s }),
    ...(rc !== undefined && { rc }),
    ...(error && { code: error.code }),
    ...(error?.message !== undefined && { message: shorten(error.message, LONGEST_MESSAGE) }),
    ...(artifacts && { artifacts: artifacts.length }),
    ...(questions.length > 0 && { questions: questions.length }),
    ...(last && last.text !== '' && { last: `${last.type}: ${last.text}` }),
  }
}

// One damaged run.json must not hide the other runs.
function readQuietly(
  id: string,
  paths: ListedRun['paths'],
  created: number,
): {
  readonly run_id: string
  readonly tool: string
  readonly created: string
  readonly caller?: string
} {
  try {
    return readRequest(paths)
  } catch {
    return { run_id: id, tool: '?', created: new Date(created).toISOString() }
  }
}
