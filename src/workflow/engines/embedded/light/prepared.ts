import { hashWorkflow } from '../../../definition/hash-workflow.ts'
import type { Workflow } from '../../../definition/workflow-type.ts'

/** A definition as it is executed: a copy, so that what is executed is what was written down. */
export type Prepared = { readonly hash: string; readonly definition: Workflow }

const known = new WeakMap<Workflow, Prepared>()

/** Prepares a definition, once for the same object. */
export function prepareDefinition(definition: Workflow): Prepared {
  const before = known.get(definition)
  if (before) return before
  const prepared = {
    hash: hashWorkflow(definition),
    definition: JSON.parse(JSON.stringify(definition)) as Workflow,
  }
  known.set(definition, prepared)
  return prepared
}
