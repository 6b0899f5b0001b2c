/**
 * One run in detail: request, model, artifacts, children, and what can be done with it. Also the
 * plans of runs.
 */

import type { Plan } from '../../protocol/plan.ts'
import { readEventPlan } from '../../protocol/plan.ts'
import { isFinished } from '../../protocol/run-state.ts'
import { openRegularFile } from '../../runner/files.ts'
import { readRunRequest } from '../../runner/find-run.ts'
import { isRunLive } from '../../runner/lock.ts'
import { parseEvent, readWholeLines } from '../../runner/log-reader.ts'
import type { RunRequest } from '../../runner/request.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { getRunPaths } from '../../runner/run-paths.ts'
import { RecentCache, TimeSlices } from '../../util/async.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { Workflow } from '../../workflow/definition/model.ts'
import { findResumeCommand } from '../../workflow/lookup.ts'
import { createPlan } from '../../workflow/plan.ts'
import type { RunDetail, RunRow, ShownArtifact, ShownPlan } from '../model/api.ts'
import { applyEvent } from '../model/run-model-events.ts'
import type { RunModel, RunModelInput } from '../model/run-model.ts'
import { createRunModel } from '../model/run-model.ts'
import { createSummaryBuilder } from '../model/run-summary.ts'
import { showArtifacts } from './artifacts.ts'
import { openGrowingFile } from './event-index.ts'
import type { InlineExecution } from './inline-executions.ts'
import { readNewLines } from './row-reader.ts'
import type { RunIndex, RunIndexEntry } from './run-index.ts'
import { toCommandLine, toShownRequest } from './run-request.ts'

const MAX_CHILDREN = 1000
const MAX_ARTIFACT_LISTS = 32

/** Lists of artifacts that were read, by record and length of it. */
type ArtifactLists = RecentCache<Promise<readonly unknown[]>>

/** Remembers none yet. */
export function createArtifactLists(): ArtifactLists {
  return new RecentCache(MAX_ARTIFACT_LISTS)
}

/** Everything that can be said of a run that has a folder, but for its events. */
export async function readRunDetail(
  root: string,
  row: RunRow,
  {
    index,
    models,
    lists,
  }: { readonly index: RunIndex; readonly models: RunModelCache; readonly lists: ArtifactLists },
): Promise<RunDetail> {
  const paths = getRunPaths(root, row.run_id)
  const request = readRequestOrUnknown(paths, row)
  const { workflow } = request
  const model = await models.read(
    paths.events,
    compact({
      run_id: row.run_id,
      tool: row.tool,
      created: row.created,
      workflow: request.command === 'workflow' || undefined,
      heartbeat_grace_s:
        request.heartbeat_grace_s !== undefined && request.call
          ? request.heartbeat_grace_s
          : undefined,
    }),
  )
  const live = isRunLive(paths)
  const { state } = model
  const goOn = live
    ? undefined
    : await findResumeCommand(paths, request, compact({ state, error: model.error })).catch(
        () => undefined,
      )
  const graph = workflow && toGraphSource(workflow.definition as unknown as Workflow)
  return compact({
    row,
    request: toShownRequest(request),
    model,
    command: request.tool === '?' ? '' : toCommandLine(request),
    go_on: goOn,
    folder: paths.folder,
    artifacts: await readArtifacts(paths, row, model.seq, lists),
    children: listChildren(index, row.run_id),
    workflow: graph ? { ...graph, ...compact({ file: workflow.file }) } : undefined,
    can: {
      cancel: live || !isFinished(state),
      resume: goOn !== undefined,
      retry: isFinished(state) && !live && request.tool !== '?',
      answer: row.questions > 0,
    },
  })
}

/** The same for an execution that has none. */
export function describeInlineExecution(
  row: RunRow,
  { execution, records, events }: InlineExecution,
  index: RunIndex,
): RunDetail {
  const model = createRunModel({
    run_id: row.run_id,
    tool: row.tool,
    created: row.created,
    workflow: true,
  })
  for (const event of events) applyEvent(model, event)
  const graph = toGraphSource(records.definition)
  const isLeft = execution.error?.code === 'INTERRUPTED' && execution.ended === undefined
  return compact({
    row,
    request: {
      tool: row.tool,
      args: [],
      input: (records.begin.i ?? {}) as JsonObject,
      cwd: '',
      secrets: [],
      answers: [],
    },
    model,
    command: `toolable runs show ${row.run_id}`,
    go_on: isLeft ? `toolable workflow resume ${row.run_id}` : undefined,
    artifacts: [],
    children: listChildren(index, row.run_id),
    workflow: graph,
    can: { cancel: !isFinished(row.state), resume: isLeft, retry: false, answer: false },
  })
}

/** What a run has left. Its whole record is read once for each end that it comes to. */
export async function readArtifacts(
  paths: RunPaths,
  row: RunRow,
  seq: number,
  lists: ArtifactLists,
): Promise<readonly ShownArtifact[]> {
  if (row.artifacts === 0 && !isFinished(row.state)) return []
  const announced = lists.get(`${paths.events} ${seq}`, () => readAnnouncedArtifacts(paths, row))
  return showArtifacts(await announced, paths.artifacts, row.attempt)
}

// Only the lines that can say something of it are parsed.
async function readAnnouncedArtifacts(paths: RunPaths, row: RunRow): Promise<readonly unknown[]> {
  const file = await openRegularFile(paths.events)
  if (!file) return []
  try {
    const summary = createSummaryBuilder(row)
    await readNewLines(file, 0, summary)
    return summary.current().artifacts ?? []
  } finally {
    await file.close()
  }
}

function toGraphSource(
  definition: Workflow,
): { readonly name: string; readonly steps: ReturnType<typeof createPlan>['steps'] } | undefined {
  try {
    const { name, steps } = createPlan(definition)
    return { name, steps }
  } catch {
    // A record of another version, or one that was edited.
    return undefined
  }
}

function listChildren(index: RunIndex, id: string): readonly RunRow[] {
  return index
    .all()
    .flatMap(({ row }) => (row.parent?.run_id === id ? [row] : []))
    .slice(0, MAX_CHILDREN)
    .reverse()
}

// A damaged `run.json` is shown as far as possible.
function readRequestOrUnknown(paths: RunPaths, { run_id, tool, created }: RunRow): RunRequest {
  try {
    return readRunRequest(paths)
  } catch {
    return {
      v: 1,
      run_id,
      tool,
      created,
      args: [],
      cwd: '',
      heartbeat_grace_s: 90,
      retries: 0,
      trace_id: '',
      idempotency_key: '',
    }
  }
}

const MAX_MODELS = 8

/** Models of runs. Those of the last few are kept, and grow with their records. */
type RunModelCache = { read(path: string, asked: RunModelInput): Promise<RunModel> }

/** Keeps none yet. */
export function createRunModelCache(): RunModelCache {
  const kept = new RecentCache<() => Promise<RunModel>>(MAX_MODELS)
  return {
    // A copy, because the cached one keeps changing.
    read: async (path, asked) =>
      structuredClone(await kept.get(path, () => createModelReader(path, asked))()),
  }
}

function createModelReader(path: string, asked: RunModelInput): () => Promise<RunModel> {
  let model = createRunModel(asked)
  const file = openGrowingFile(path, {
    forget: () => {
      model = createRunModel(asked)
    },
    async take(bytes) {
      const slices = new TimeSlices()
      for (const line of bytes.toString('utf8').slice(0, -1).split('\n')) {
        const event = parseEvent(line)
        if (event) applyEvent(model, event)
        if (slices.isUsed) await slices.rest()
      }
    },
  })
  return async () => {
    await file.catchUp()
    return model
  }
}

const MAX_PLANS = 50

/** The plans of runs, those that are still worked on first, then the newest. */
export async function findPlans(root: string, index: RunIndex): Promise<readonly ShownPlan[]> {
  const planned = index.all().filter((entry) => entry.planned)
  const live = planned.filter(({ row }) => !isFinished(row.state))
  const chosen = [...live, ...planned.filter(({ row }) => isFinished(row.state))].slice(
    0,
    MAX_PLANS,
  )
  const found: ShownPlan[] = []
  for (const entry of chosen) {
    const plan = await readLastPlan(root, entry).catch(() => undefined)
    if (plan) found.push({ ...plan, run: entry.row })
  }
  return found
}

// The last one that its record tells.
async function readLastPlan(
  root: string,
  { row }: RunIndexEntry,
): Promise<{ readonly plan: Plan; readonly changed: string } | undefined> {
  const file = await openRegularFile(getRunPaths(root, row.run_id).events)
  if (!file) return undefined
  const slices = new TimeSlices()
  let last: { readonly plan: Plan; readonly changed: string } | undefined
  try {
    for await (const { bytes } of readWholeLines(file, 0)) {
      const text = bytes.toString('utf8')
      for (let at = text.lastIndexOf('"plan"'); at !== -1;) {
        const from = text.lastIndexOf('\n', at) + 1
        const event = parseEvent(text.slice(from, text.indexOf('\n', at)))
        const { plan } = event ? readEventPlan(event) : {}
        if (plan) {
          last = { plan, changed: event!.ts }
          break
        }
        at = from === 0 ? -1 : text.lastIndexOf('"plan"', from - 1)
      }
      await slices.rest()
    }
    return last
  } finally {
    await file.close()
  }
}
