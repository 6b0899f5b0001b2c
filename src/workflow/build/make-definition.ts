import { normaliseWorkflow } from '../definition/normalise-workflow.ts'
import type { Workflow } from '../definition/workflow-type.ts'
import { toPlainData } from './plain-data.ts'
import type { WrittenWorkflow } from './workflow.ts'

/** The definition of a workflow that was written in TypeScript. Throws CONFIG with every problem. */
export async function makeDefinition(written: WrittenWorkflow): Promise<Workflow> {
  return normaliseWorkflow(await toPlainData(written))
}
