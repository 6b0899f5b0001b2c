import { normaliseWhole } from '../definition/normalise-workflow.ts'
import type { Workflow } from '../definition/workflow-type.ts'
import { isBuiltWorkflow } from './author.ts'

/** The definition behind what callers give: what `workflow()` made, or data with every short form. Throws CONFIG with every problem. */
export async function asDefinition(given: unknown): Promise<Workflow> {
  return isBuiltWorkflow(given) ? given.definition() : normaliseWhole(given)
}
