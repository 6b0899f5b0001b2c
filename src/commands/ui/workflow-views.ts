/**
 * Workflows for the dashboard: rows, one workflow in detail, and the grid of its last runs.
 */

import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { isFinished } from '../../protocol/run-state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { RegistryEntry } from '../../registry/catalog.ts'
import type { Registry } from '../../registry/types.ts'
import { getRunPaths } from '../../runner/run-paths.ts'
import { describeUnknownName, escapeRegExp } from '../../util/text.ts'
import { compact } from '../../util/values.ts'
import type { RunRow, WorkflowDetail, WorkflowRow } from '../../views/model/api.ts'
import type { StepState } from '../../views/model/run-model.ts'
import { loadWorkflow } from '../../workflow/definition/load.ts'
import { walkSteps } from '../../workflow/definition/walk.ts'
import type { LoadedWorkflow } from '../../workflow/lookup.ts'
import { getLoadedWorkflow } from '../../workflow/lookup.ts'
import { createPlan, formatPlan } from '../../workflow/plan.ts'
import type { ShownStep } from '../../workflow/run-record.ts'
import { readWorkflowRun } from '../../workflow/run-record.ts'
import type { PlannedStep } from '../../workflow/steps/kind.ts'
import { canAsk } from '../../workflow/steps/table.ts'
import { showInlineExecution } from '../runs/show-run.ts'
import { DATA_FILE_PATTERN } from '../workflow/describe-workflow.ts'

/** A workflow of the registry. */
type RegistryWorkflow = { readonly entry: RegistryEntry; readonly loaded: LoadedWorkflow }

/** The workflows that are tools. */
function listRegistryWorkflows(registry: Registry): readonly RegistryWorkflow[] {
  return (registry.entries as readonly RegistryEntry[]).flatMap((entry) => {
    const loaded = getLoadedWorkflow(entry.found)
    return loaded ? [{ entry, loaded }] : []
  })
}

/**
 * All workflows with how they went, and behind them the files that are none, with what is wrong.
 */
export function listWorkflowRows(
  registry: Registry,
  rows: readonly RunRow[],
): readonly WorkflowRow[] {
  const runs = groupByWorkflow(rows)
  return [
    ...listRegistryWorkflows(registry).map((found) =>
      toWorkflowRow(found, runs(found.loaded.workflow.name)),
    ),
    ...listBrokenFiles(registry),
  ]
}

/** One workflow as the list shows it. */
function toWorkflowRow(
  { entry, loaded: { workflow, file } }: RegistryWorkflow,
  runs: readonly RunRow[],
): WorkflowRow {
  const latest = runs.reduce<RunRow | undefined>(
    (newest, row) => (newest && newest.created >= row.created ? newest : row),
    undefined,
  )
  return compact({
    id: entry.id,
    name: workflow.name,
    summary: entry.found.summary,
    file,
    steps: [...walkSteps(workflow)].length,
    runs: runs.length,
    failed: runs.filter(({ state }) => state === 'failed').length,
    latest,
  })
}

/** Runs of a workflow, by its name. */
function groupByWorkflow(rows: readonly RunRow[]): (name: string) => readonly RunRow[] {
  const found = new Map<string, RunRow[]>()
  for (const row of rows) {
    if (row.workflow === undefined) continue
    const known = found.get(row.workflow)
    if (known) known.push(row)
    else found.set(row.workflow, [row])
  }
  return (name) => found.get(name) ?? []
}

// A file that cannot be read is named after itself, with its first problem.
function listBrokenFiles(registry: Registry): readonly WorkflowRow[] {
  const sources = new Set(
    registry
      .sources()
      .filter(({ kind }) => kind === 'workflows')
      .map(({ name }) => name),
  )
  const files = new Map<string, string>()
  for (const { source, location, message, severity } of registry.problems()) {
    const file = location.replace(/:\d+$/, '')
    if (sources.has(source) && severity === 'error' && !files.has(file))
      files.set(
        file,
        location === file ? message : `line ${location.slice(file.length + 1)}: ${message}`,
      )
  }
  return Array.from(files, ([file, problem]): WorkflowRow => ({
    id: file,
    name: basename(file).replace(DATA_FILE_PATTERN, ''),
    summary: '',
    file,
    steps: 0,
    runs: 0,
    failed: 0,
    problem,
  }))
}

type WorkflowDetailContext = {
  readonly root: string
  readonly rows: readonly RunRow[]
  readonly grid: ReturnType<typeof createStepGridReader>
}

/**
 * One workflow: as it is written now, as a graph and as a plan, and how its last runs went. Throws
 * NOT_FOUND, and CONFIG with every problem where its file has been broken since.
 */
export async function describeWorkflow(
  registry: Registry,
  name: string,
  { root, rows, grid }: WorkflowDetailContext,
): Promise<WorkflowDetail> {
  const found = findWorkflowByName(registry, name)
  const { file } = found.loaded
  const workflow =
    file === undefined ? found.loaded.workflow : await loadWorkflow(file, { cwd: root })
  const plan = createPlan(workflow)
  const runs = groupByWorkflow(rows)(workflow.name)
  return compact({
    row: toWorkflowRow({ ...found, loaded: { ...found.loaded, workflow } }, runs),
    source:
      file === undefined
        ? `${JSON.stringify(workflow, undefined, 2)}\n`
        : readFileSync(file, 'utf8'),
    language: file !== undefined && /\.ya?ml$/i.test(file) ? 'yaml' : 'json',
    graph: { steps: plan.steps.map(toPlannedNode) },
    plan: formatPlan(plan),
    input_schema: workflow.input,
    grid: await grid(plan.steps, runs),
  })
}

function findWorkflowByName(registry: Registry, name: string): RegistryWorkflow {
  const all = listRegistryWorkflows(registry)
  const found =
    all.find(({ entry }) => entry.id === name) ??
    all.find(({ loaded }) => loaded.workflow.name === name) ??
    all.find(({ entry }) => entry === registry.find(name))
  if (found) return found
  const names = all.map(({ loaded }) => loaded.workflow.name)
  throw new ToolError('NOT_FOUND', describeUnknownName('workflow', name, names).message, {
    field: 'workflow',
    suggestion:
      names.length === 0
        ? 'Put one into the folder workflows'
        : `The workflows here are ${names.slice(0, 20).join(', ')}`,
  })
}

const NODE_FIELDS = [
  ...['key', 'kind', 'depth', 'role', 'needs', 'tool', 'command', 'question', 'workflow'],
  ...['text', 'when', 'input', 'timeout', 'concurrency', 'retry', 'on_error'],
] as (keyof PlannedStep)[]

function toPlannedNode(step: PlannedStep): WorkflowDetail['graph']['steps'][number] {
  const known = NODE_FIELDS.filter((name) => step[name] !== undefined)
  return Object.fromEntries(known.map((name) => [name, step[name]])) as never
}

type StepStates = { readonly [step: string]: StepState }
type StepGrid = WorkflowDetail['grid']

const MAX_GRID_RUNS = 20
const MAX_CACHED_RUNS = 500
/** Of several items the one that most needs a look stands for all. */
const STATES_BY_WEIGHT: readonly StepState[] = [
  'failed',
  'waiting',
  'running',
  'interrupted',
  'cancelled',
  'ok',
  'skipped',
  'pending',
]

/** Makes grids of steps and runs; what a run that is over came to is read once. */
export function createStepGridReader(
  runsFolder: string,
): (planned: readonly PlannedStep[], rows: readonly RunRow[]) => Promise<StepGrid> {
  const known = new Map<string, { readonly ended: string; readonly steps: readonly ShownStep[] }>()
  const read = async (row: RunRow): Promise<readonly ShownStep[]> => {
    const before = known.get(row.run_id)
    if (before && before.ended === row.ended) return before.steps
    const steps = await readSteps(runsFolder, row)
    if (row.ended !== undefined && isFinished(row.state))
      known.set(row.run_id, { ended: row.ended, steps })
    if (known.size > MAX_CACHED_RUNS) known.delete(known.keys().next().value!)
    return steps
  }
  return async (planned, rows) => {
    const newest = [...rows]
      .sort((left, right) => (left.created < right.created ? 1 : -1))
      .slice(0, MAX_GRID_RUNS)
    const runs = await Promise.all(
      newest.map(async (row) => ({ row, states: toStepStates(await read(row), planned, row) })),
    )
    return { steps: planned.map(({ key }) => key), runs }
  }
}

async function readSteps(
  root: string,
  { run_id: id, light }: RunRow,
): Promise<readonly ShownStep[]> {
  const paths = getRunPaths(root, id)
  try {
    if (light && !existsSync(paths.folder))
      return (await showInlineExecution(root, id))?.steps ?? []
    return (await readWorkflowRun(paths)).steps
  } catch {
    // One damaged record must not hide the other runs.
    return []
  }
}

function toStepStates(
  steps: readonly ShownStep[],
  planned: readonly PlannedStep[],
  row: RunRow,
): StepStates {
  const isEnd = isFinished(row.state)
  const states = Object.create(null) as { [step: string]: StepState }
  if (!isEnd) for (const { key } of planned) states[key] = 'pending'
  const patterns = new Map(
    planned
      .filter(({ key }) => key.includes('/*'))
      .map(({ key }) => [key, new RegExp(`^${key.split('*').map(escapeRegExp).join('\\d+')}$`)]),
  )
  for (const step of steps) {
    const key =
      patterns.size === 0 || planned.some((one) => one.key === step.step)
        ? step.step
        : ([...patterns].find(([, pattern]) => pattern.test(step.step))?.[0] ?? step.step)
    const state: StepState =
      step.state === 'running' && row.questions > 0 && canAsk(step.kind) ? 'waiting' : step.state
    const before = states[key]
    if (before === undefined || STATES_BY_WEIGHT.indexOf(state) < STATES_BY_WEIGHT.indexOf(before))
      states[key] = state
  }
  return { ...states }
}
