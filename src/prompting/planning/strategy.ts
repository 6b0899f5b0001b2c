import { ToolError } from '../../contract/tool-error.ts'
import { unknownName } from '../../contract/unknown-name.ts'

/** The names of the planning strategies; the first is the default. */
export const PLANNING_STRATEGIES = [
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
  const { message, meant } = unknownName('planning strategy', String(strategy), PLANNING_STRATEGIES)
  throw new ToolError('CONFIG', message, {
    field: 'strategy',
    suggestion: meant ? `Use '${meant}'` : `The strategies are ${PLANNING_STRATEGIES.join(', ')}`,
  })
}
