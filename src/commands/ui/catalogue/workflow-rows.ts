import { basename } from 'node:path'
import type { Entry } from '../../../registry/entry.ts'
import type { Registry } from '../../../registry/registry-type.ts'
import type { RunRow } from '../../../views/model/wire/run-row.ts'
import type { WorkflowRow } from '../../../views/model/wire/workflows.ts'
import { walkSteps } from '../../../workflow/definition/walk-steps.ts'
import type { LoadedWorkflow } from '../../../workflow/source/load-workflows.ts'
import { workflowOf } from '../../../workflow/source/workflow-of.ts'

const ENDING = /(\.workflow)?\.(ya?ml|json)$/i

/** A workflow of the registry. */
export type FoundWorkflow = { readonly entry: Entry; readonly loaded: LoadedWorkflow }

/** The workflows that are tools. */
export function findWorkflows(registry: Registry): readonly FoundWorkflow[] {
  return (registry.entries as readonly Entry[]).flatMap((entry) => {
    const loaded = workflowOf(entry.found)
    return loaded ? [{ entry, loaded }] : []
  })
}

/** All workflows with how they went, and behind them the files that are none, with what is wrong. */
export function listWorkflows(registry: Registry, rows: readonly RunRow[]): readonly WorkflowRow[] {
  const runs = byWorkflow(rows)
  return [
    ...findWorkflows(registry).map((found) => workflowRow(found, runs(found.loaded.workflow.name))),
    ...brokenFiles(registry),
  ]
}

/** One workflow as the list shows it. */
export function workflowRow(
  { entry, loaded: { workflow, file } }: FoundWorkflow,
  runs: readonly RunRow[],
): WorkflowRow {
  const latest = runs.reduce<RunRow | undefined>(
    (newest, row) => (newest && newest.created >= row.created ? newest : row),
    undefined,
  )
  return {
    id: entry.id,
    name: workflow.name,
    summary: entry.found.summary,
    ...(file !== undefined && { file }),
    steps: [...walkSteps(workflow)].length,
    runs: runs.length,
    failed: runs.filter(({ state }) => state === 'failed').length,
    ...(latest && { latest }),
  }
}

/** Runs of a workflow, by its name. */
export function byWorkflow(rows: readonly RunRow[]): (name: string) => readonly RunRow[] {
  const found = new Map<string, RunRow[]>()
  for (const row of rows) {
    if (row.workflow === undefined) continue
    const known = found.get(row.workflow)
    if (known) known.push(row)
    else found.set(row.workflow, [row])
  }
  return (name) => found.get(name) ?? []
}

// A file that cannot be read has no name of its own; its first problem is told.
function brokenFiles(registry: Registry): readonly WorkflowRow[] {
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
    name: basename(file).replace(ENDING, ''),
    summary: '',
    file,
    steps: 0,
    runs: 0,
    failed: 0,
    problem,
  }))
}
