import type { AnyTool } from '../../call/tool.ts'
import type { Context } from '../../contract/context.ts'
import { checkOptions } from '../../define/names.ts'
import { makePlanningTools } from './make-tools.ts'
import type { PlanKeeper } from './plan-keeper.ts'
import { section } from '../sections/section.ts'
import type { Section, SectionOptions } from '../sections/section-type.ts'
import { requireStrategy } from './strategy.ts'
import type { PlanningStrategy } from './strategy.ts'

/** How a planning section differs from the usual one. */
export type PlanningOptions = Omit<
  SectionOptions,
  'key' | 'title' | 'params' | 'body' | 'tools'
> & {
  /** Default REACT: small rounds of thinking, acting and looking. */
  readonly strategy?: PlanningStrategy
  /** Default `planning`. */
  readonly key?: string
  /** Default `Planning`. */
  readonly title?: string
  /** Keeps the plan in a session file instead of the state. */
  readonly file?: string
}

const OPTIONS = [
  'strategy',
  'key',
  'title',
  'file',
  'guards',
  'enabled',
  'visibility',
  'summary',
  'children',
] as const satisfies readonly (keyof PlanningOptions)[]

let ofState: readonly AnyTool[] | undefined

/** A section by which a model plans: instructions of a strategy, and the four tools. The plan is `state.get(planSlice).latest()`. */
export function planning(options: PlanningOptions = {}): Section {
  checkOptions('planning()', options, OPTIONS)
  const { strategy, key = 'planning', title = 'Planning', file, ...rest } = options
  const chosen = requireStrategy(strategy)
  return section({
    ...rest,
    key,
    title,
    body: () => planningInstructions(chosen),
    tools: file === undefined ? planningTools() : planner({ file }),
  })
}

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
  return (await import('./instructions.ts')).instructionsFor(strategy)
}
