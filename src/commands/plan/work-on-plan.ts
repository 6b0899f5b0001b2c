import type { Context } from '../../contract/context.ts'
import type { Plan } from '../../contract/plan.ts'
import type { PlanKeeper } from '../../prompting/planning/plan-keeper.ts'
import { findSessionFile, openPlanFile } from '../../prompting/planning/plan-file.ts'
import { countSteps } from '../../prompting/planning/plan-model.ts'
import type { PlanWords, StepChange } from '../../prompting/planning/plan-model.ts'

/** A plan with how far it is and where it lies; without one after `clear`. */
export type Planned = {
  readonly file: string
  readonly plan?: Plan
  readonly done?: number
  readonly total?: number
  /** `clear` had something to forget. */ readonly cleared?: boolean
}

type Where = { readonly file?: string; readonly config?: string }
type Given<Own = object> = Own & Where

const WORDS: PlanWords = {
  setup: 'toolable plan setup "<objective>" "<step>"',
  update: 'toolable plan update <step> done',
  read: 'toolable plan show',
  steps: 'steps',
  id: 'step',
}

/** `plan show`; throws PRECONDITION where there is no plan. */
export function showPlan(given: Given, ctx: Context): Promise<Planned> {
  return work(given, ctx, (keeper) => keeper.read(), true)
}

/** `plan setup`. */
export function setupPlan(
  {
    objective,
    steps,
    ...where
  }: Given<{ readonly objective: string; readonly steps?: readonly string[] }>,
  ctx: Context,
): Promise<Planned> {
  return work(where, ctx, (keeper) => keeper.setup(objective, steps))
}

/** `plan add`. */
export function addSteps(
  { steps, ...where }: Given<{ readonly steps: readonly string[] }>,
  ctx: Context,
): Promise<Planned> {
  return work(where, ctx, (keeper) => keeper.add(steps))
}

/** `plan update`. */
export function updateStep(
  { step, title, status, ...where }: Given<{ readonly step: number } & StepChange>,
  ctx: Context,
): Promise<Planned> {
  return work(where, ctx, (keeper) =>
    keeper.update(step, {
      ...(title !== undefined && { title }),
      ...(status !== undefined && { status }),
    }),
  )
}

/** `plan clear`; a plan that is not there is no failure. */
export async function clearPlan(where: Given, ctx: Context): Promise<Planned> {
  const path = findSessionFile(ctx.cwd, where)
  const cleared = await openPlanFile(path, ctx, (keeper) => keeper.clear() !== undefined, {
    readOnly: false,
  })
  return { file: path, cleared }
}

async function work(
  where: Where,
  ctx: Context,
  change: (keeper: PlanKeeper) => Plan,
  readOnly = false,
): Promise<Planned> {
  const path = findSessionFile(ctx.cwd, where)
  const plan = await openPlanFile(path, ctx, change, { readOnly, words: WORDS })
  return { file: path, plan, ...countSteps(plan) }
}
