import { ToolError } from '../../../contract/tool-error.ts'
import { isRunId } from '../../../runner/folder/run-id.ts'
import { runPaths } from '../../../runner/folder/run-paths.ts'
import { openLight } from '../../../workflow/run/open-light.ts'
import type { ShownPlan } from '../../model/wire/others.ts'
import type { ShownArtifact } from '../../model/wire/run-detail.ts'
import type { RunRow } from '../../model/wire/run-row.ts'
import type { RunsSource } from '../backend.ts'
import { openDecisions } from './decisions/past-decisions.ts'
import { findPlans } from './detail/find-plans.ts'
import { openKept } from './detail/kept-artifacts.ts'
import { readLight } from './detail/light-execution.ts'
import type { LightExecution } from './detail/light-execution.ts'
import {
  describeLight,
  keepArtifactLists,
  readArtifacts,
  readDetail,
} from './detail/read-detail.ts'
import { openRunModels } from './detail/run-models.ts'
import { verifyArtifact } from './detail/verify-artifact.ts'
import { readEventFilter } from './events/event-filter.ts'
import { followEvents } from './events/follow-events.ts'
import { readLines } from './events/read-lines.ts'
import { numberIn, openRunEvents, readWanted } from './events/run-events.ts'
import { keepIndex } from './index/keep-index.ts'
import { listRows } from './index/list-rows.ts'
import { newsOf } from './index/news.ts'

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

const DEFAULT_LINES = 500
const MOST_LINES = 5000

/** Looks at a folder of runs for whoever shows them. It can be asked at once; older runs come while it is asked. Runs whose runner died are finished on the way. */
export function openRunsSource({
  root,
  now,
  epoch,
  light = true,
  plans,
}: RunsSourceOptions): RunsSource {
  const decisions = openDecisions(root)
  const kept = keepIndex({ root, light, onSettled: decisions.settled })
  const { index, keeper } = kept
  const events = openRunEvents()
  const models = openRunModels()
  const lists = keepArtifactLists()

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
  const findLight = async (id: string): Promise<LightExecution> => {
    const found = await readLight(root, id)
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
    const paths = runPaths(root, id)
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
      return listRows(index, query, { now: now(), complete: kept.complete })
    },
    async detail(id) {
      const row = await find(id)
      return row.light
        ? describeLight(row, await findLight(id), index)
        : readDetail(root, row, { index, models, lists })
    },
    async events(id, query) {
      const row = await find(id)
      const wanted = readWanted(query, readEventFilter(query, now()))
      return row.light
        ? events.pageOf((await findLight(id)).events, wanted)
        : events.page(runPaths(root, id).events, wanted)
    },
    async log(id, query) {
      const row = await find(id)
      const paths = runPaths(root, id)
      const name = query.get('file') ?? 'stderr'
      if (name !== 'stderr' && name !== 'runner')
        throw new ToolError('INVALID_INPUT', `there is no log '${name.slice(0, 60)}'`, {
          field: 'file',
          suggestion: 'Use stderr or runner',
        })
      if (row.light) return { lines: [], first: 1, total: 0 }
      const path = name === 'stderr' ? paths.stderr : `${paths.logs}/runner.log`
      return readLines(
        path,
        events.lines(path),
        numberIn(query, 'from', Number.MAX_SAFE_INTEGER) ?? 1,
        Math.max(1, numberIn(query, 'limit', MOST_LINES) ?? DEFAULT_LINES),
      )
    },
    async artifact(id, place) {
      const { folder, artifact } = await findArtifact(id, place)
      const { file, bytes } = await openKept(folder, artifact)
      return {
        name: artifact.name,
        bytes,
        body: file.createReadStream({ start: 0, ...(bytes > 0 && { end: bytes - 1 }) }),
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
    news: (after, signal) => newsOf(index, after, signal),
    async *follow(id, after, signal) {
      const row = await find(id)
      const { events: path, folder } = runPaths(root, id)
      if (row.light) {
        const opened = await openLight(root, id)
        for await (const some of opened?.events({ follow: true, signal }) ?? []) {
          const fresh = some.filter(({ seq }) => seq > after)
          if (fresh.length > 0) yield fresh
        }
        // Where it goes on as a run of its own, its story begins anew there.
        await kept.untilGone(id, signal)
        return
      }
      const offset = await events.placeOf(path, after)
      // Somebody may resume it, and the one who looks on is the first to know.
      yield* followEvents(path, { after, offset, signal, onGrowth: () => kept.noticed(id, folder) })
    },
    close: () => kept.close(),
  }
}
