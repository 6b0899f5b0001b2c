import { makePlanningTools } from './make-tools.ts'

/** The four planning tools over the state of the call: `planning_setup_plan`, `planning_add_step`, `planning_update_step`, `planning_read_plan`. */
export const planningTools = makePlanningTools(async (ctx, work) => work((await import('./keep-plan.ts')).keepPlan(ctx)))
