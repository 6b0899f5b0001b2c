import type { JsonObject } from '../../../../contract/json.ts'
import { isOver } from '../../../../contract/run-state.ts'
import { isLive } from '../../../../runner/folder/lock.ts'
import { readRequest } from '../../../../runner/folder/open-run.ts'
import { runPaths } from '../../../../runner/folder/run-paths.ts'
import type { RunPaths } from '../../../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../../../runner/run-request.ts'
import { openOrdinary } from '../../../../runner/log/open-ordinary.ts'
import type { Workflow } from '../../../../workflow/definition/workflow-type.ts'
import { planOf } from '../../../../workflow/outline/plan-of.ts'
import { findGoOn } from '../../../../workflow/run/find-go-on.ts'
import { applyEvent } from '../../../model/run-model/apply-event.ts'
import { createRunModel } from '../../../model/run-model/create-run-model.ts'
import { startSummary } from '../../../model/summary/summarize.ts'
import type { RunDetail, ShownArtifact } from '../../../model/wire/run-detail.ts'
import type { RunRow } from '../../../model/wire/run-row.ts'
import type { RunIndex } from '../index/run-index.ts'
import { readOn } from '../live/read-on.ts'
import { keepRecent } from '../recent.ts'
import type { Recent } from '../recent.ts'
import { commandOf } from './command-of.ts'
import { showArtifacts } from './kept-artifacts.ts'
import type { LightExecution } from './light-execution.ts'
import type { RunModels } from './run-models.ts'
import { showRequest } from './show-request.ts'

const MOST_CHILDREN = 1000
const MOST_LISTS = 32

/** Lists of artifacts that were read, by record and length of it. */
export type ArtifactLists = Recent<Promise<readonly unknown[]>>

/** Remembers none yet. */
export function keepArtifactLists(): ArtifactLists {
  return keepRecent(MOST_LISTS)
}

/** Everything that can be said of a run that has a folder, but for its events. */
export async function readDetail(
  root: string,
  row: RunRow,
  {
    index,
    models,
    lists,
  }: { readonly index: RunIndex; readonly models: RunModels; readonly lists: ArtifactLists },
): Promise<RunDetail> {
  const paths = runPaths(root, row.run_id)
  const request = readQuietly(paths, row)
  const { workflow } = request
  const model = await models.read(paths.events, {
    run_id: row.run_id,
    tool: row.tool,
    created: row.created,
    ...(request.command === 'workflow' && { workflow: true }),
    ...(request.heartbeat_grace_s !== undefined &&
      request.call && { heartbeat_grace_s: request.heartbeat_grace_s }),
  })
  const live = isLive(paths)
  const { state } = model
  const goOn = live
    ? undefined
    : await findGoOn(paths, request, { state, ...(model.error && { error: model.error }) }).catch(
        () => undefined,
      )
  const graph = workflow && graphOf(workflow.definition as unknown as Workflow)
  return {
    row,
    request: showRequest(request),
    model,
    command: request.tool === '?' ? '' : commandOf(request),
    ...(goOn !== undefined && { go_on: goOn }),
    folder: paths.folder,
    artifacts: await readArtifacts(paths, row, model.seq, lists),
    children: childrenOf(index, row.run_id),
    ...(graph && {
      workflow: { ...graph, ...(workflow.file !== undefined && { file: workflow.file }) },
    }),
    can: {
      cancel: live || !isOver(state),
      resume: goOn !== undefined,
      retry: isOver(state) && !live && request.tool !== '?',
      answer: row.questions > 0,
    },
  }
}

/** The same for an execution that has none. */
export function describeLight(
  row: RunRow,
  { execution, records, events }: LightExecution,
  index: RunIndex,
): RunDetail {
  const model = createRunModel({
    run_id: row.run_id,
    tool: row.tool,
    created: row.created,
    workflow: true,
  })
  for (const event of events) applyEvent(model, event)
  const graph = graphOf(records.definition)
  const isLeft = execution.error?.code === 'INTERRUPTED' && execution.ended === undefined
  return {
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
    ...(isLeft && { go_on: `toolable workflow resume ${row.run_id}` }),
    artifacts: [],
    children: childrenOf(index, row.run_id),
    ...(graph && { workflow: graph }),
    can: { cancel: !isOver(row.state), resume: isLeft, retry: false, answer: false },
  }
}

/** What a run has left. Its whole record is read once for each end that it comes to. */
export async function readArtifacts(
  paths: RunPaths,
  row: RunRow,
  seq: number,
  lists: ArtifactLists,
): Promise<readonly ShownArtifact[]> {
  if (row.artifacts === 0 && !isOver(row.state)) return []
  const announced = lists.get(`${paths.events} ${seq}`, () => readAnnounced(paths, row))
  return showArtifacts(await announced, paths.artifacts, row.attempt)
}

// Only the lines that can say something of it are parsed.
async function readAnnounced(paths: RunPaths, row: RunRow): Promise<readonly unknown[]> {
  const file = await openOrdinary(paths.events)
  if (!file) return []
  try {
    const summary = startSummary(row)
    await readOn(file, 0, summary)
    return summary.current().artifacts ?? []
  } finally {
    await file.close()
  }
}

function graphOf(
  definition: Workflow,
): { readonly name: string; readonly steps: ReturnType<typeof planOf>['steps'] } | undefined {
  try {
    const { name, steps } = planOf(definition)
    return { name, steps }
  } catch {
    // A record of another version, or one that somebody has changed.
    return undefined
  }
}

function childrenOf(index: RunIndex, id: string): readonly RunRow[] {
  return index
    .all()
    .flatMap(({ row }) => (row.parent?.run_id === id ? [row] : []))
    .slice(0, MOST_CHILDREN)
    .reverse()
}

// What nobody can read is shown as far as it goes.
function readQuietly(paths: RunPaths, { run_id, tool, created }: RunRow): RunRequest {
  try {
    return readRequest(paths)
  } catch {
    return {
      v: 1,
      run_id,
      tool: '?',
      created,
      args: [],
      cwd: '',
      heartbeat_grace_s: 90,
      retries: 0,
      trace_id: '',
      idempotency_key: '',
      ...(tool !== '?' && { tool }),
    }
  }
}
