import type { Workflow } from '../definition/workflow-type.ts'
import { toPlainData } from './plain-data.ts'
import type { WrittenWorkflow } from './workflow.ts'

/** The definition of a workflow that was written in TypeScript. */
export async function makeDefinition(written: WrittenWorkflow): Promise<Workflow> {
  return (await toPlainData(written)) as unknown as Workflow
}
