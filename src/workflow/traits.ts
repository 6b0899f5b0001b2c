/**
 * What follows from the tools a workflow uses: its annotations, and whether it can run inline,
 * without a run folder.
 */

import type { Annotations } from '../protocol/manifest.ts'
import type { RegistryEntry } from '../registry/catalog.ts'
import type { Registry } from '../registry/types.ts'
import { compact } from '../util/values.ts'
import type { Workflow } from './definition/model.ts'
import { listToolNames, walkSteps } from './definition/walk.ts'
import { getLoadedWorkflow } from './lookup.ts'
import { getStepKind } from './steps/table.ts'

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
 * Whether an execution only calls functions of this process: then it needs no run folder. A
 * workflow that asks, waits or starts programs is a run.
 */
export function canRunInline(workflow: Workflow, registry: Pick<Registry, 'find'>): boolean {
  return [...walkSteps(workflow)].every(
    ({ step }) => getStepKind(step).canRunInline?.(step, registry) ?? false,
  )
}
