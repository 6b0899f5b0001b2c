/**
 * `toolable plan show|setup|add|update|clear|serve`, and the text of a plan, which `toolable runs show`
 * prints too.
 */

import type { ResultRenderer } from '../cli/formats/envelope.ts'
import type { TextPainter } from '../cli/formats/terminal-text.ts'
import { cleanLine, createTextPainter } from '../cli/formats/terminal-text.ts'
import { drawBar } from '../cli/progress.ts'
import type { BuiltinContext } from '../cli/types.ts'
import type { PlanKeeper, PlanTerms, StepChange } from '../prompts/plan.ts'
import { countPlanSteps, findSessionFile, withPlanFile } from '../prompts/plan.ts'
import { planner } from '../prompts/planning.ts'
import type { Context } from '../protocol/context.ts'
import type { Plan, PlanStep } from '../protocol/plan.ts'
import { compact } from '../util/values.ts'

/** A plan with how far it is and where it lies; without one after `clear`. */
export type PlanReport = {
  readonly file: string
  readonly plan?: Plan
  readonly done?: number
  readonly total?: number
  /** Whether `clear` found a plan. */
  readonly cleared?: boolean
}

type PlanLocation = { readonly file?: string; readonly config?: string }
type PlanInput<Own = object> = Own & PlanLocation

const COMMAND_PLAN_TERMS: PlanTerms = {
  setup: 'toolable plan setup "<objective>" "<step>"',
  update: 'toolable plan update <step> done',
  read: 'toolable plan show',
  steps: 'steps',
  id: 'step',
}

/** `plan show`; throws PRECONDITION where there is no plan. */
export function showPlan(given: PlanInput, ctx: Context): Promise<PlanReport> {
  return editPlan(given, ctx, (keeper) => keeper.read(), true)
}

/** `plan setup`. */
export function setupPlan(
  {
    objective,
    steps,
    ...where
  }: PlanInput<{ readonly objective: string; readonly steps?: readonly string[] }>,
  ctx: Context,
): Promise<PlanReport> {
  return editPlan(where, ctx, (keeper) => keeper.setup(objective, steps))
}

/** `plan add`. */
export function addSteps(
  { steps, ...where }: PlanInput<{ readonly steps: readonly string[] }>,
  ctx: Context,
): Promise<PlanReport> {
  return editPlan(where, ctx, (keeper) => keeper.add(steps))
}

/** `plan update`. */
export function updateStep(
  { step, title, status, ...where }: PlanInput<{ readonly step: number } & StepChange>,
  ctx: Context,
): Promise<PlanReport> {
  return editPlan(where, ctx, (keeper) => keeper.update(step, compact({ title, status })))
}

/** `plan clear`; a plan that is not there is no failure. */
export async function clearPlan(where: PlanInput, ctx: Context): Promise<PlanReport> {
  const path = findSessionFile(ctx.cwd, where)
  const cleared = await withPlanFile(path, ctx, (keeper) => keeper.clear() !== undefined, {
    readOnly: false,
  })
  return { file: path, cleared }
}

async function editPlan(
  where: PlanLocation,
  ctx: Context,
  change: (keeper: PlanKeeper) => Plan,
  readOnly = false,
): Promise<PlanReport> {
  const path = findSessionFile(ctx.cwd, where)
  const plan = await withPlanFile(path, ctx, change, { readOnly, terms: COMMAND_PLAN_TERMS })
  return { file: path, plan, ...countPlanSteps(plan) }
}

/** The plan for a person: what is to be reached, a checklist, and a bar of what is done. */
export const renderPlan: ResultRenderer = (result, { color }) => {
  const paint = createTextPainter(color)
  const { file, plan, done = 0, total = 0, cleared } = result as PlanReport
  if (!plan)
    return cleared === true
      ? `the plan in ${cleanLine(file)} is forgotten\n`
      : `there was no plan in ${cleanLine(file)}\n`
  const stand =
    total === 0
      ? 'no steps yet: toolable plan add <step>'
      : `${drawBar((done / total) * 100, paint)} ${done} of ${total} steps done${plan.status === 'completed' ? ', completed' : ''}`
  return [paint('bold', cleanLine(plan.objective)), ...renderPlanSteps(plan, paint), stand]
    .map((line) => `${line}\n`)
    .join('')
}

/** The checklist of a plan, a step a line. */
export function renderPlanSteps({ steps }: Plan, paint: TextPainter): readonly string[] {
  const width = String(steps.at(-1)?.step_id ?? '').length
  return steps.map((step) => renderPlanStep(step, width, paint))
}

function renderPlanStep(
  { step_id, title, status }: PlanStep,
  width: number,
  paint: TextPainter,
): string {
  const line = `${String(step_id).padStart(width)} ${cleanLine(title)}`
  if (status === 'done') return `  ${paint('green', '✔')} ${paint('dim', line)}`
  return status === 'in_progress'
    ? `  ${paint('yellow', '▸')} ${line}`
    : `  ${paint('dim', '○')} ${line}`
}

/** `plan serve`: serves the planning tools on a session file until the client is gone. */
export async function servePlan(
  { file, config, ...serving }: PlanInput<{ readonly [property: string]: unknown }>,
  context: BuiltinContext,
): Promise<number | undefined> {
  const { serveMcp } = await import('../mcp/serve.ts')
  const path = findSessionFile(context.io.cwd, { file, config })
  const set = context.host.makeToolset({
    name: 'planner',
    version: context.set.version,
    description: `A plan of work, kept in ${path}`,
    tools: planner({ file: path }),
  })
  return serveMcp(serving, { ...context, set })
}
