/**
 * What a model is told about planning: the tools, then one of three strategies.
 */

import { requireStrategy } from './plan-slice.ts'
import type { PlanningStrategy } from './plan-slice.ts'

const TOOL_INSTRUCTIONS = `Keep a plan of your work, so that you and whoever watches can see what is done and what is left.

- \`planning_setup_plan\` begins a plan: an objective in one sentence, and the steps that you know already. It replaces an older plan.
- \`planning_add_step\` puts further steps at the end.
- \`planning_update_step\` sets a step to \`in_progress\` when you turn to it and to \`done\` when its outcome is there; it can also reword a step.
- \`planning_read_plan\` shows the plan. Read it when you are unsure where you are.

A step says what will be true afterwards, in at most 500 characters. Work on one step at a time. Call a step done only when you have seen its outcome.
When every step is done the plan is completed and cannot be changed; for new work, begin a new one. Something that takes one or two calls needs no plan.`

const STRATEGY_INSTRUCTIONS: { readonly [Strategy in PlanningStrategy]: string } = {
  REACT: `Go forward in small rounds:

1. **Think**: look at what you know and decide on the one thing that helps most now. A sentence is enough.
2. **Act**: make the tool calls for it, and only those.
3. **Look**: read what came back. Does it answer the question, or does it change the plan?

Then begin the next round. Let the plan follow what you find: add steps as they show themselves, reword those that turned out otherwise. A short plan that is true beats a long one that was guessed.`,
  PLAN_ACT_REFLECT: `Work in three phases, in this order:

1. **Plan**: before anything else, write the whole plan, every step that you can foresee, in the order in which each can build on the ones before it.
2. **Act**: take the steps in order. Depart from the order only when a step is blocked, and say why.
3. **Reflect**: after each step compare its outcome with what you expected, and mend the plan before you go on: reword, add, drop nothing silently. When all steps are done, look once more at the objective. If it is not reached, say what is missing and plan that.`,
  GOAL_DECOMPOSE_ROUTE_SYNTHESISE: `Take the task apart, give every part to what does it best, and put the answers together:

1. **Goal**: say in your own words what is wanted and how one will see that it is reached. That is the objective.
2. **Decompose**: cut it into parts that can be solved and checked each by itself. Every part is a step.
3. **Route**: decide for every part which tool, section or source suits it best, and name it in the step. Parts that do not need each other may be done in any order, or side by side.
4. **Synthesise**: bring the results together, settle where they contradict each other, and check the whole against the goal. This is a step too, the last one.`,
}

/** What a model is told about planning, as Markdown: the tools, then the strategy. */
export function getPlanningInstructions(strategy?: PlanningStrategy): string {
  return `${TOOL_INSTRUCTIONS}\n\n${STRATEGY_INSTRUCTIONS[requireStrategy(strategy)]}`
}
