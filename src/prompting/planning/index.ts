import type { AnyTool } from '../../call/tool.ts'
import type { Context } from '../../contract/context.ts'
import { makePlanningTools } from './make-tools.ts'
import type { PlanKeeper } from './plan-keeper.ts'
import type { PlanningStrategy } from './strategies.ts'

let ofState: readonly AnyTool[] | undefined

/** The four tools by which a model keeps its plan in the state of the call: `planning_setup_plan`, `planning_add_step`, `planning_update_step`, `planning_read_plan`. */
export function planningTools(): readonly AnyTool[] {
  return (ofState ??= makePlanningTools(async (ctx, work) => work(await keepPlan(ctx))))
}

/**
 * The same tools over a session file, for a toolset, a section or an agent: what they change is there for the next process, and calls at the same time take turns.
 * Default: `.toolable/session.json` beside the nearest configuration, else in the caller's directory.
 */
export function planner({ file }: { readonly file?: string } = {}): readonly AnyTool[] {
  return makePlanningTools(async (ctx, work, options) => {
    const { findSessionFile, openPlanFile } = await import('./plan-file.ts')
    return openPlanFile(findSessionFile(ctx.cwd, { file }), ctx, work, options)
  })
}

/** Keeps a plan in the state of a call, for a tool that plans by itself: `const plan = await keepPlan(ctx)`. What cannot be done is a ToolError. */
export async function keepPlan(ctx: Pick<Context, 'state' | 'progress'>): Promise<PlanKeeper> {
  return (await import('./plan-keeper.ts')).createKeeper(ctx)
}

/** What a model is told about planning, as Markdown: the tools, then the strategy, default REACT. Throws CONFIG for an unknown one. */
export async function planningInstructions(strategy?: PlanningStrategy): Promise<string> {
  return (await import('./strategies.ts')).instructionsFor(strategy)
}
