import { readFileSync } from 'node:fs'
import { ToolError } from '../../../contract/tool-error.ts'
import { unknownName } from '../../../contract/unknown-name.ts'
import type { Registry } from '../../../registry/registry-type.ts'
import type { RunRow } from '../../../views/model/wire/run-row.ts'
import type { WorkflowDetail } from '../../../views/model/wire/workflows.ts'
import { loadWorkflow } from '../../../workflow/definition/load-workflow.ts'
import { planOf } from '../../../workflow/outline/plan-of.ts'
import type { PlannedStep } from '../../../workflow/outline/plan-of.ts'
import { planText } from '../../../workflow/outline/plan-text.ts'
import { byWorkflow, findWorkflows, workflowRow } from './workflow-rows.ts'
import type { FoundWorkflow } from './workflow-rows.ts'
import type { createGrids } from './step-grid.ts'

type Around = {
  readonly root: string
  readonly rows: readonly RunRow[]
  readonly grid: ReturnType<typeof createGrids>
}

/** One workflow: as it is written now, as a graph and as a plan, and how its last runs went. Throws NOT_FOUND, and CONFIG with every problem where its file has been broken since. */
export async function describeWorkflow(
  registry: Registry,
  name: string,
  { root, rows, grid }: Around,
): Promise<WorkflowDetail> {
  const found = find(registry, name)
  const { file } = found.loaded
  const workflow =
    file === undefined ? found.loaded.workflow : await loadWorkflow(file, { cwd: root })
  const plan = planOf(workflow)
  const runs = byWorkflow(rows)(workflow.name)
  return {
    row: workflowRow({ ...found, loaded: { ...found.loaded, workflow } }, runs),
    source:
      file === undefined
        ? `${JSON.stringify(workflow, undefined, 2)}\n`
        : readFileSync(file, 'utf8'),
    language: file !== undefined && /\.ya?ml$/i.test(file) ? 'yaml' : 'json',
    graph: { steps: plan.steps.map(nodeOf) },
    plan: planText(plan),
    ...(workflow.input && { input_schema: workflow.input }),
    grid: await grid(plan.steps, runs),
  }
}

function find(registry: Registry, name: string): FoundWorkflow {
  const all = findWorkflows(registry)
  const found =
    all.find(({ entry }) => entry.id === name) ??
    all.find(({ loaded }) => loaded.workflow.name === name) ??
    all.find(({ entry }) => entry === registry.find(name))
  if (found) return found
  const names = all.map(({ loaded }) => loaded.workflow.name)
  throw new ToolError('NOT_FOUND', unknownName('workflow', name, names).message, {
    field: 'workflow',
    suggestion:
      names.length === 0
        ? 'Put one into the folder workflows'
        : `The workflows here are ${names.slice(0, 20).join(', ')}`,
  })
}

function nodeOf({
  key,
  kind,
  depth,
  role,
  tool,
  command,
  question,
  workflow,
  when,
  needs,
  input,
  timeout,
  concurrency,
  retry,
  on_error,
}: PlannedStep): WorkflowDetail['graph']['steps'][number] {
  return {
    key,
    kind,
    depth,
    role,
    needs,
    ...(tool !== undefined && { tool }),
    ...(command !== undefined && { command }),
    ...(question !== undefined && { question }),
    ...(workflow !== undefined && { workflow }),
    ...(when !== undefined && { when }),
    ...(input !== undefined && { input }),
    ...(timeout !== undefined && { timeout }),
    ...(concurrency !== undefined && { concurrency }),
    ...(retry !== undefined && { retry }),
    ...(on_error !== undefined && { on_error }),
  }
}
