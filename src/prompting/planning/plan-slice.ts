import type { Plan } from '../../contract/plan.ts'
import { readPlan } from '../../contract/read-plan.ts'
import type { Slice } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'

/** Where a state keeps its plan: `state.get(planSlice).latest()`. It holds one item, which every change replaces. */
export const planSlice: Slice<Plan> = {
  key: 'toolable.plan',
  kind: 'state',
  read(value) {
    const plan = readPlan(value)
    if (plan) return plan
    throw new ToolError(
      'CONFIG',
      'a plan needs an objective, and steps with step_id, title and status',
    )
  },
}
