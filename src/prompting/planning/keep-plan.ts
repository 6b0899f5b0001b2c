import type { Context } from '../../contract/context.ts'
import type { Plan } from '../../contract/plan.ts'
import { newPlan, requirePlan, withChange, withSteps } from './plan-model.ts'
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
export const TOOL_WORDS: PlanWords = { setup: 'planning_setup_plan', update: 'planning_update_step', read: 'planning_read_plan', steps: 'initial_steps', id: 'step_id' }

/** Keeps a plan in the state of a call, or of a program: `keepPlan(ctx)`. What cannot be done is a ToolError with advice. */
export function keepPlan(ctx: Pick<Context, 'state' | 'progress'>, words: PlanWords = TOOL_WORDS): PlanKeeper {
  const latest = (): Plan | undefined => ctx.state.get(planSlice).latest()
  const become = (plan: Plan): Plan => {
    ctx.state.get(planSlice).replace([plan])
    const { message, percent } = describeProgress(plan)
    ctx.progress(message, percent, { plan })
    return plan
  }
  return {
    setup: (objective, steps = []) => become(newPlan(objective, steps, words)),
    add: (steps) => become(withSteps(requirePlan(latest(), words), steps, words)),
    update: (stepId, change) => become(withChange(requirePlan(latest(), words), stepId, change, words)),
    read: () => requirePlan(latest(), words),
    clear() {
      const plan = latest()
      if (plan) ctx.state.get(planSlice).replace([])
      return plan
    },
  }
}
