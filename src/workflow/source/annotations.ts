import type { Annotations } from '../../contract/manifest.ts'
import type { Entry } from '../../registry/entry.ts'
import type { Registry } from '../../registry/registry-type.ts'
import type { Workflow } from '../definition/workflow-type.ts'
import { toolsOf } from '../definition/tools-of.ts'
import { workflowOf } from './workflow-of.ts'

/** What can be said about a workflow by what is said about its tools: one destructive tool makes it destructive, so that consent to it is consent to all of its steps. */
export function annotationsOf(workflow: Workflow, find: Registry['find']): Annotations {
  const said = [...leavesOf(workflow, find, new Set())].map(
    (entry) => entry?.definition.facts.annotations ?? {},
  )
  const isSaidByAll = (key: 'readOnly' | 'idempotent'): boolean =>
    said.every((annotations) => annotations[key] === true)
  return {
    ...(isSaidByAll('readOnly') && { readOnly: true }),
    ...(said.some(({ destructive }) => destructive) && { destructive: true }),
    ...(isSaidByAll('idempotent') && { idempotent: true }),
    ...(said.some(({ openWorld }) => openWorld) && { openWorld: true }),
  }
}

// Workflows may be tools of each other, in circles too.
function leavesOf(
  workflow: Workflow,
  find: Registry['find'],
  seen: Set<Workflow>,
): ReadonlySet<Entry | undefined> {
  if (seen.has(workflow)) return new Set()
  seen.add(workflow)
  const entries = [...toolsOf(workflow)].map((tool) => find(tool) as Entry | undefined)
  return new Set(
    entries.flatMap((entry) => {
      const inner = entry && workflowOf(entry.found)
      return inner ? [...leavesOf(inner.workflow, find, seen)] : [entry]
    }),
  )
}
