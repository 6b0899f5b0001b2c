import { hashWorkflow } from '../../../definition/hash-workflow.ts'
import type { Workflow } from '../../../definition/workflow-type.ts'

/** A definition as it is executed: a copy, so that what is executed is what was written down. */
export type Prepared = { readonly hash: string; readonly definition: Workflow }

const known = new WeakMap<Workflow, Prepared>()

/** Prepares a definition, once for the same object; not awaited where that was done before. */
export function prepareDefinition(definition: Workflow): Prepared | Promise<Prepared> {
  return known.get(definition) ?? prepare(definition)
}

async function prepare(definition: Workflow): Promise<Prepared> {
  const prepared = { hash: await hashWorkflow(definition), definition: JSON.parse(JSON.stringify(definition)) as Workflow }
  known.set(definition, prepared)
  return prepared
}
