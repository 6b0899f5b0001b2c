import { isBuiltWorkflow } from '../build/workflow.ts'
import { loadWorkflow } from '../definition/load-workflow.ts'
import { normaliseWorkflow } from '../definition/normalise-workflow.ts'
import type { Workflow } from '../definition/workflow-type.ts'
import type { AnyWorkflow } from './workflows-type.ts'

// The same value is started many times, and stays what it is.
const known = new WeakMap<object, Workflow>()

/** The definition that a workflow in any form is. Throws CONFIG, with every problem. */
export async function readAnyWorkflow(given: AnyWorkflow, cwd: string): Promise<Workflow> {
  if (typeof given === 'string') return loadWorkflow(given, { cwd })
  const before = known.get(given)
  if (before) return before
  const workflow = isBuiltWorkflow(given) ? await given.definition() : normaliseWorkflow(given)
  if (isBuiltWorkflow(given)) known.set(given, workflow)
  return workflow
}
