import { asDefinition } from '../build/as-definition.ts'
import { isBuiltWorkflow } from '../build/author.ts'
import { loadWorkflow } from '../definition/load-workflow.ts'
import type { Workflow } from '../definition/workflow-type.ts'
import type { AnyWorkflow } from './workflows-type.ts'

// The same value is started many times, and stays what it is.
const known = new WeakMap<object, Workflow>()

/** The definition that a workflow in any form is. Throws CONFIG, with every problem. */
export async function readAnyWorkflow(given: AnyWorkflow, cwd: string): Promise<Workflow> {
  if (typeof given === 'string') return loadWorkflow(given, { cwd })
  const before = known.get(given)
  if (before) return before
  const workflow = await asDefinition(given)
  if (isBuiltWorkflow(given)) known.set(given, workflow)
  return workflow
}
