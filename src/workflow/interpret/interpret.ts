import type { Workflow } from '../definition/workflow-type.ts'
import { errorOf } from './error-of.ts'
import { within } from './flow.ts'
import type { DurableContext, Settled } from '../engines/engine-type.ts'
import { followWorkflow } from './follow-workflow.ts'
import { schedule } from './schedule.ts'

/** Executes a workflow on an engine, from the beginning or from wherever its journal ends. Rejects only where the engine gives up; what steps do is in what it gives. */
export async function interpret(
  workflow: Workflow,
  input: unknown,
  context: DurableContext,
): Promise<Settled> {
  const flow = followWorkflow(workflow, input, { context, path: '' })
  const ended = await schedule(
    workflow.timeout === undefined ? flow : within('~timeout', workflow.timeout, flow),
    context,
  )
  return ended.ok
    ? { ok: true, value: ended.value ?? null }
    : { ok: false, error: errorOf(ended.thrown) }
}
