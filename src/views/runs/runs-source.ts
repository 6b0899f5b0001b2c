/**
 * Runs for whoever shows them: lists, details, events, artifacts, decisions and plans of a folder
 * of runs.
 *
 * run-index.ts holds one row per run in memory. run-indexer.ts fills it when a dashboard starts and
 * keeps it up to date; run-tracker.ts follows the runs that are live; row-cache.ts spares the next
 * start from reading everything again. A row is built from events by run-row.ts, which
 * row-reader.ts feeds. What is asked about one run is read on demand: run-detail.ts, artifacts.ts,
 * event-pages.ts.
 */

import { ToolError } from '../../protocol/tool-error.ts'
import { getRunPaths, isRunId } from '../../runner/run-paths.ts'
import { compact } from '../../util/values.ts'
import { openInlineRun } from '../../workflow/inline-run.ts'
import type { RunRow, ShownArtifact, ShownPlan } from '../model/api.ts'
import type { RunsSource } from '../server/backend.ts'
import { openKeptArtifact, verifyArtifact } from './artifacts.ts'
import { parseEventFilter } from './event-index.ts'
import {
  createEventPager,
  followEvents,
  parseNumberParam,
  parsePageRequest,
  readLogPage,
} from './event-pages.ts'
import type { InlineExecution } from './inline-executions.ts'
import { readInlineExecution } from './inline-executions.ts'
import {
  createArtifactLists,
  createRunModelCache,
  describeInlineExecution,
  findPlans,
  readArtifacts,
  readRunDetail,
} from './run-detail.ts'
import { listRunPage, streamChanges } from './run-index.ts'
import { startRunIndexer } from './run-indexer.ts'
import { createDecisionLog } from './run-tracker.ts'

export type RunsSourceOptions = {
  /** The folder of runs; it need not be there. */
  readonly root: string
  readonly now: () => number
  /** Another one for each start. */
  readonly epoch: string
  /** Whether executions without a folder are looked for too; default true. */
  readonly light?: boolean
  /** Plans that are not in runs. */
  readonly plans?: () => Promise<readonly ShownPlan[]>
}

const DEFAULT_LOG_LINES = 500
const MAX_LOG_LINES = 5000

/**
 * Looks at a folder of runs for whoever shows them. It can be asked at once; older runs come while
 * it is asked. Runs whose runner died are finished on the way.
 */
export function openRunsSource({
  root,
  now,
  epoch,
  light = true,
  plans,
}: RunsSourceOptions): RunsSource {
  const decisions = createDecisionLog(root)
  const kept = startRunIndexer({ root, light, onSettled: decisions.settled })
  const { index, keeper } = kept
  const events = createEventPager()
  const models = createRunModelCache()
  const lists = createArtifactLists()

  const find = async (id: string): Promise<RunRow> => {
    // It may have come a moment ago, or not be reached yet.
    if (isRunId(id) && !index.get(id)) await keeper.look(id)
    if (isRunId(id) && !index.get(id) && light) await kept.lookForLight()
    const row = isRunId(id) ? index.get(id)?.row : undefined
    if (row) return row
    throw new ToolError('NOT_FOUND', `there is no run '${id.slice(0, 60)}'`, {
      field: 'run',
      suggestion: 'toolable runs list',
    })
  }
  const findLight = async (id: string): Promise<InlineExecution> => {
    const found = await readInlineExecution(root, id)
    if (found) return found
    throw new ToolError('NOT_FOUND', `there is no run '${id}' any more`, {
      field: 'run',
      suggestion: 'toolable runs list',
    })
  }
  const findArtifact = async (
    id: string,
    place: number,
  ): Promise<{ readonly folder: string; readonly artifact: ShownArtifact }> => {
    const row = await find(id)
    const paths = getRunPaths(root, id)
    const { seq } = row.light ? { seq: 0 } : await events.lines(paths.events).catchUp()
    const artifact = row.light ? undefined : (await readArtifacts(paths, row, seq, lists))[place]
    if (!artifact)
      throw new ToolError('NOT_FOUND', `${id} has no artifact ${place}`, { field: 'artifact' })
    return { folder: paths.artifacts, artifact }
  }

  return {
    epoch,
    rows: () => index.all().map(({ row }) => row),
    async list(query) {
      await kept.first
      return listRunPage(index, query, { now: now(), complete: kept.complete })
    },
    async detail(id) {
      const row = await find(id)
      return row.light
        ? describeInlineExecution(row, await findLight(id), index)
        : readRunDetail(root, row, { index, models, lists })
    },
    async events(id, query) {
      const row = await find(id)
      const wanted = parsePageRequest(query, parseEventFilter(query, now()))
      return row.light
        ? events.pageEvents((await findLight(id)).events, wanted)
        : events.page(getRunPaths(root, id).events, wanted)
    },
    async log(id, query) {
      const row = await find(id)
      const paths = getRunPaths(root, id)
      const name = query.get('file') ?? 'stderr'
      if (name !== 'stderr' && name !== 'runner')
        throw new ToolError('INVALID_INPUT', `there is no log '${name.slice(0, 60)}'`, {
          field: 'file',
          suggestion: 'Use stderr or runner',
        })
      if (row.light) return { lines: [], first: 1, total: 0 }
      const path = name === 'stderr' ? paths.stderr : `${paths.logs}/runner.log`
      return readLogPage(
        path,
        events.lines(path),
        parseNumberParam(query, 'from', Number.MAX_SAFE_INTEGER) ?? 1,
        Math.max(1, parseNumberParam(query, 'limit', MAX_LOG_LINES) ?? DEFAULT_LOG_LINES),
      )
    },
    async artifact(id, place) {
      const { folder, artifact } = await findArtifact(id, place)
      const { file, bytes } = await openKeptArtifact(folder, artifact)
      return {
        name: artifact.name,
        bytes,
        body: file.createReadStream(compact({ start: 0, end: bytes > 0 ? bytes - 1 : undefined })),
      }
    },
    async verify(id, place) {
      const { folder, artifact } = await findArtifact(id, place)
      return verifyArtifact(folder, artifact)
    },
    async decisions() {
      await kept.first
      return decisions.list(index, keeper)
    },
    async plans() {
      await kept.first
      return { plans: [...(await findPlans(root, index)), ...((await plans?.()) ?? [])] }
    },
    news: (after, signal) => streamChanges(index, after, signal),
    async *follow(id, after, signal) {
      const row = await find(id)
      const { events: path, folder } = getRunPaths(root, id)
      if (row.light) {
        const opened = await openInlineRun(root, id)
        for await (const some of opened?.events({ follow: true, signal }) ?? []) {
          const fresh = some.filter(({ seq }) => seq > after)
          if (fresh.length > 0) yield fresh
        }
        // If it continues as a run with a folder, its events start again there.
        await kept.untilGone(id, signal)
        return
      }
      const offset = await events.findPlace(path, after)
      // A resume is noticed here before the watcher sees it.
      yield* followEvents(path, { after, offset, signal, onGrowth: () => kept.noticed(id, folder) })
    },
    close: () => kept.close(),
  }
}
