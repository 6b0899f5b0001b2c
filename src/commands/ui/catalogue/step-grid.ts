import { existsSync } from 'node:fs'
import { isOver } from '../../../contract/run-state.ts'
import { runPaths } from '../../../runner/folder/run-paths.ts'
import type { StepState } from '../../../views/model/run-model/run-model-type.ts'
import type { RunRow } from '../../../views/model/wire/run-row.ts'
import type { WorkflowDetail } from '../../../views/model/wire/workflows.ts'
import type { PlannedStep } from '../../../workflow/outline/plan-of.ts'
import { readWorkflowRun } from '../../../workflow/run/read-workflow-run.ts'
import type { ShownStep } from '../../../workflow/run/read-workflow-run.ts'
import { showLight } from '../../workflow/show-light.ts'

type States = { readonly [step: string]: StepState }
type Grid = WorkflowDetail['grid']

const MOST_RUNS = 20
const MOST_KEPT = 500
/** Of several items the one that most needs a look stands for all. */
const BY_WEIGHT: readonly StepState[] = [
  'failed',
  'waiting',
  'running',
  'interrupted',
  'cancelled',
  'ok',
  'skipped',
  'pending',
]
const ASKING: readonly (string | undefined)[] = ['wait', 'ai_decision']

/** Makes grids of steps and runs; what a run that is over came to is read once. */
export function createGrids(
  runsFolder: string,
): (planned: readonly PlannedStep[], rows: readonly RunRow[]) => Promise<Grid> {
  const known = new Map<string, { readonly ended: string; readonly steps: readonly ShownStep[] }>()
  const read = async (row: RunRow): Promise<readonly ShownStep[]> => {
    const before = known.get(row.run_id)
    if (before && before.ended === row.ended) return before.steps
    const steps = await readSteps(runsFolder, row)
    if (row.ended !== undefined && isOver(row.state))
      known.set(row.run_id, { ended: row.ended, steps })
    if (known.size > MOST_KEPT) known.delete(known.keys().next().value!)
    return steps
  }
  return async (planned, rows) => {
    const newest = [...rows]
      .sort((left, right) => (left.created < right.created ? 1 : -1))
      .slice(0, MOST_RUNS)
    const runs = await Promise.all(
      newest.map(async (row) => ({ row, states: statesOf(await read(row), planned, row) })),
    )
    return { steps: planned.map(({ key }) => key), runs }
  }
}

async function readSteps(
  root: string,
  { run_id: id, light }: RunRow,
): Promise<readonly ShownStep[]> {
  const paths = runPaths(root, id)
  try {
    if (light && !existsSync(paths.folder)) return (await showLight(root, id))?.steps ?? []
    return (await readWorkflowRun(paths)).steps
  } catch {
    // One damaged record must not hide the other runs.
    return []
  }
}

function statesOf(
  steps: readonly ShownStep[],
  planned: readonly PlannedStep[],
  row: RunRow,
): States {
  const isEnd = isOver(row.state)
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
      step.state === 'running' && row.questions > 0 && ASKING.includes(step.kind)
        ? 'waiting'
        : step.state
    const before = states[key]
    if (before === undefined || BY_WEIGHT.indexOf(state) < BY_WEIGHT.indexOf(before))
      states[key] = state
  }
  return { ...states }
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
