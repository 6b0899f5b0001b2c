/**
 * What follows from the tools a workflow uses: its annotations, and whether it can run inline,
 * without a run folder.
 */

import type { Annotations } from '../protocol/manifest.ts'
import type { RegistryEntry } from '../registry/catalog.ts'
import type { Registry } from '../registry/types.ts'
import { compact } from '../util/values.ts'
import type { Workflow, WorkflowStep } from './definition/model.ts'
import { getToolName, listToolNames, walkSteps } from './definition/walk.ts'
import { getLoadedWorkflow } from './lookup.ts'

/**
 * What can be said about a workflow by what is said about its tools: one destructive tool makes it
 * destructive, so that consent to it is consent to all of its steps.
 */
export function deriveAnnotations(workflow: Workflow, find: Registry['find']): Annotations {
  const said = [...collectLeafTools(workflow, find, new Set())].map(
    (entry) => entry?.definition.metadata.annotations ?? {},
  )
  const isSaidByAll = (key: 'readOnly' | 'idempotent'): boolean =>
    said.every((annotations) => annotations[key] === true)
  return compact({
    readOnly: isSaidByAll('readOnly') || undefined,
    destructive: said.some(({ destructive }) => destructive) || undefined,
    idempotent: isSaidByAll('idempotent') || undefined,
    openWorld: said.some(({ openWorld }) => openWorld) || undefined,
  })
}

// Workflows may be tools of each other, in circles too.
function collectLeafTools(
  workflow: Workflow,
  find: Registry['find'],
  seen: Set<Workflow>,
): ReadonlySet<RegistryEntry | undefined> {
  if (seen.has(workflow)) return new Set()
  seen.add(workflow)
  const entries = [...listToolNames(workflow)].map(
    (tool) => find(tool) as RegistryEntry | undefined,
  )
  return new Set(
    entries.flatMap((entry) => {
      const inner = entry && getLoadedWorkflow(entry.found)
      return inner ? [...collectLeafTools(inner.workflow, find, seen)] : [entry]
    }),
  )
}

/**
 * Whether an execution is nothing but calls in this process: then it needs no folder of its own.
 * What asks, waits or starts programs is a run.
 */
export function canRunInline(workflow: Workflow, registry: Pick<Registry, 'find'>): boolean {
  for (const { step } of walkSteps(workflow)) if (!canRunStepInline(step, registry)) return false
  return true
}

function canRunStepInline(step: WorkflowStep, registry: Pick<Registry, 'find'>): boolean {
  if (step.type !== 'tool') return step.type !== 'ai_decision' && step.type !== 'wait'
  const entry = registry.find(getToolName(step)) as RegistryEntry | undefined
  return (
    entry !== undefined &&
    step.permissions === undefined &&
    !entry.found.program &&
    !getLoadedWorkflow(entry.found)
  )
}
