import type { Entry } from '../../registry/entry.ts'
import type { Registry } from '../../registry/registry-type.ts'
import { toolOf } from '../definition/tools-of.ts'
import { walkSteps } from '../definition/walk-steps.ts'
import type { Step, Workflow } from '../definition/workflow-type.ts'
import { workflowOf } from '../source/workflow-of.ts'

/** Whether an execution is nothing but calls in this process: then it needs no folder of its own. What asks, waits or starts programs is a run. */
export function isLight(workflow: Workflow, registry: Pick<Registry, 'find'>): boolean {
  for (const { step } of walkSteps(workflow)) if (!isLightStep(step, registry)) return false
  return true
}

function isLightStep(step: Step, registry: Pick<Registry, 'find'>): boolean {
  if (step.type !== 'tool') return step.type !== 'ai_decision' && step.type !== 'wait'
  const entry = registry.find(toolOf(step)) as Entry | undefined
  return (
    entry !== undefined &&
    step.permissions === undefined &&
    !entry.found.program &&
    !workflowOf(entry.found)
  )
}
