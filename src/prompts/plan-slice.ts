/**
 * Where a state keeps its plan, and the names of the planning strategies.
 */

import { readPlan } from '../protocol/plan.ts'
import type { Plan } from '../protocol/plan.ts'
import type { Slice } from '../protocol/state.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { describeUnknownName } from '../util/text.ts'

/**
 * Where a state keeps its plan: `state.get(planSlice).latest()`. It holds one item, which every
 * change replaces.
 */
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

/** The names of the planning strategies; the first is the default. */
const PLANNING_STRATEGIES = [
  'REACT',
  'PLAN_ACT_REFLECT',
  'GOAL_DECOMPOSE_ROUTE_SYNTHESISE',
] as const

/** How a model is told to go about its work. */
export type PlanningStrategy = (typeof PLANNING_STRATEGIES)[number]

/** The strategy of a name; throws CONFIG for an unknown one. */
export function requireStrategy(
  strategy: PlanningStrategy = PLANNING_STRATEGIES[0],
): PlanningStrategy {
  if (PLANNING_STRATEGIES.includes(strategy)) return strategy
  const { message, meant } = describeUnknownName(
    'planning strategy',
    String(strategy),
    PLANNING_STRATEGIES,
  )
  throw new ToolError('CONFIG', message, {
    field: 'strategy',
    suggestion: meant ? `Use '${meant}'` : `The strategies are ${PLANNING_STRATEGIES.join(', ')}`,
  })
}
