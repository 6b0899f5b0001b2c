import type { Context } from '../../contract/context.ts'
import type { Plan } from '../../contract/plan.ts'
import type { SliceView } from '../../contract/state.ts'
import { newPlan, requirePlan, requireSameSteps, withChange, withSteps } from './plan-model.ts'
import type { PlanWords, StepChange } from './plan-model.ts'
import { planSlice } from './plan-slice.ts'
import { describeProgress } from './plan-text.ts'

/** The plan of a state, for a program that plans by itself. Every change is told as progress and gives the plan as it is now. */
export type PlanKeeper = {
  /** Makes a plan, in the place of the one that is there. */
  setup(objective: string, steps?: readonly string[]): Plan
  add(steps: readonly string[]): Plan
  update(stepId: number, change: StepChange): Plan
  /** Throws PRECONDITION where there is no plan. */
  read(): Plan
  /** Forgets the plan; gives what it was. */
  clear(): Plan | undefined
}

/** How the tools for models name what they do. */
export const TOOL_WORDS: PlanWords = {
  setup: 'planning_setup_plan',
  update: 'planning_update_step',
  read: 'planning_read_plan',
  steps: 'initial_steps',
  id: 'step_id',
}

/** Keeps the plan of a state. What cannot be done is a ToolError with advice in the words of whoever asks. */
export function createKeeper(
  ctx: Pick<Context, 'state' | 'progress'>,
  words: PlanWords = TOOL_WORDS,
): PlanKeeper {
  const slice = (): SliceView<Plan> => ctx.state.get(planSlice)
  const told = (plan: Plan): Plan => {
    const { message, percent } = describeProgress(plan)
    ctx.progress(message, percent, { plan })
    return plan
  }
  // Made again where a call at the same time changed the plan first.
  const change = (make: (plan: Plan) => Plan): Plan => {
    const seen = requirePlan(slice().latest(), words)
    slice().reduce(
      ([plan]) => [make(requireSameSteps(seen, requirePlan(plan, words), words))],
      undefined,
    )
    return told(slice().latest()!)
  }
  return {
    setup(objective, steps = []) {
      slice().replace([newPlan(objective, steps, words)])
      return told(slice().latest()!)
    },
    add: (steps) => change((plan) => withSteps(plan, steps, words)),
    update: (stepId, changes) => change((plan) => withChange(plan, stepId, changes, words)),
    read: () => requirePlan(slice().latest(), words),
    clear() {
      const plan = slice().latest()
      if (plan) slice().replace([])
      return plan
    },
  }
}
