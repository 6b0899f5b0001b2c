/**
 * Planning: a section with instructions and four tools by which a model keeps a plan, in the state
 * of a call or in a session file.
 */

import { tool } from '../core/tool.ts'
import type { AnyTool } from '../core/tool.ts'
import { checkOptions } from '../define/checks.ts'
import { ok } from '../define/results.ts'
import { jsonSchema } from '../define/schema/source.ts'
import type { Context } from '../protocol/context.ts'
import { PLAN_LIMITS, PLAN_STEP_STATUSES } from '../protocol/plan.ts'
import type { Plan } from '../protocol/plan.ts'
import { compact } from '../util/values.ts'
import { requireStrategy } from './plan-slice.ts'
import type { PlanningStrategy } from './plan-slice.ts'
import type { PlanKeeper, StepChange } from './plan.ts'
import { section } from './section.ts'
import type { Section, SectionOptions } from './section.ts'

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

const PLANNING_OPTION_NAMES = [
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

let statePlanningTools: readonly AnyTool[] | undefined

/**
 * A section by which a model plans: instructions of a strategy, and the four tools. The plan is
 * `state.get(planSlice).latest()`.
 */
export function planning(options: PlanningOptions = {}): Section {
  checkOptions('planning()', options, PLANNING_OPTION_NAMES)
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

/**
 * The four tools by which a model keeps its plan in the state of the call: `planning_setup_plan`,
 * `planning_add_step`, `planning_update_step`, `planning_read_plan`.
 */
export function planningTools(): readonly AnyTool[] {
  return (statePlanningTools ??= createPlanningTools(async (ctx, work) =>
    work(await keepPlan(ctx)),
  ))
}

/**
 * The same tools over a session file, for a toolset, a section or an agent: what they change is
 * there for the next process, and calls at the same time take turns.
 * Default: `.toolable/session.json` beside the nearest configuration, else in the caller's
 * directory.
 */
export function planner({ file }: { readonly file?: string } = {}): readonly AnyTool[] {
  return createPlanningTools(async (ctx, work, options) => {
    const { findSessionFile, withPlanFile } = await import('./plan.ts')
    return withPlanFile(findSessionFile(ctx.cwd, { file }), ctx, work, options)
  })
}

/**
 * Keeps a plan in the state of a call, for a tool that plans by itself: `const plan = await
 * keepPlan(ctx)`. What cannot be done is a ToolError.
 */
export async function keepPlan(ctx: Pick<Context, 'state' | 'progress'>): Promise<PlanKeeper> {
  return (await import('./plan.ts')).createPlanKeeper(ctx)
}

/**
 * What a model is told about planning, as Markdown: the tools, then the strategy, default REACT.
 * Throws CONFIG for an unknown one.
 */
export async function planningInstructions(strategy?: PlanningStrategy): Promise<string> {
  return (await import('./planning-instructions.ts')).getPlanningInstructions(strategy)
}

/** Opens the plan that a call works on, lets it be worked on, and keeps what has become of it. */
type PlanOpener = (
  ctx: Context,
  work: (keeper: PlanKeeper) => Plan,
  options: { /** Nothing will change. */ readonly readOnly: boolean },
) => Plan | Promise<Plan>

const TITLE_SCHEMA = {
  type: 'string',
  description: `What is to be done: 1 to ${PLAN_LIMITS.title} characters`,
} as const
const STATUS_SCHEMA = { type: 'string', enum: PLAN_STEP_STATUSES } as const

const PLAN_SCHEMA = {
  type: 'object',
  properties: {
    objective: { type: 'string' },
    status: { type: 'string', enum: ['active', 'completed'] },
    steps: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          step_id: { type: 'integer', minimum: 1 },
          title: { type: 'string' },
          status: STATUS_SCHEMA,
        },
        required: ['step_id', 'title', 'status'],
        additionalProperties: false,
      },
    },
  },
  required: ['objective', 'status', 'steps'],
  additionalProperties: false,
} as const

/** The four tools by which a model keeps its plan, over whatever plan `open` opens. */
function createPlanningTools(open: PlanOpener): readonly AnyTool[] {
  const change = (ctx: Context, work: (keeper: PlanKeeper) => Plan) =>
    toPlanReply(open(ctx, work, { readOnly: false }))
  const output = jsonSchema<Plan>(PLAN_SCHEMA)
  return [
    tool({
      name: 'planning_setup_plan',
      summary: 'Begin a plan: what is to be reached, and the first steps towards it',
      description:
        'Replaces the plan that is there, if any. Steps are numbered from 1 and begin as pending; more can be added later.',
      input: createInputSchema<{
        readonly objective: string
        readonly initial_steps?: readonly string[]
      }>(
        {
          objective: {
            type: 'string',
            description: `What is to be reached: 1 to ${PLAN_LIMITS.objective} characters`,
          },
          initial_steps: {
            type: 'array',
            items: TITLE_SCHEMA,
            description: 'Titles of the first steps, in order',
          },
        },
        ['objective'],
      ),
      output,
      examples: [
        {
          description: 'Begin with what is known',
          input: {
            objective: 'Ship version 2',
            initial_steps: ['Mend the failing test', 'Write the release notes'],
          },
        },
      ],
      run: ({ objective, initial_steps }, ctx) =>
        change(ctx, (keeper) => keeper.setup(objective, initial_steps)),
    }),
    tool({
      name: 'planning_add_step',
      summary: 'Add steps to the end of the plan',
      description: 'The plan has to be active. Numbers go on after the highest.',
      input: createInputSchema<{ readonly steps: readonly string[] }>(
        {
          steps: {
            type: 'array',
            items: TITLE_SCHEMA,
            minItems: 1,
            description: 'Titles of the new steps, in order',
          },
        },
        ['steps'],
      ),
      output,
      examples: [
        { description: 'Something has turned up', input: { steps: ['Ask for a review'] } },
      ],
      run: ({ steps }, ctx) => change(ctx, (keeper) => keeper.add(steps)),
    }),
    tool({
      name: 'planning_update_step',
      summary: 'Change the status or the title of one step',
      description:
        'The plan has to be active. When the last open step is done, the plan is completed and closed to changes.',
      input: createInputSchema<{ readonly step_id: number } & StepChange>(
        {
          step_id: { type: 'integer', minimum: 1, description: 'The number of the step' },
          title: TITLE_SCHEMA,
          status: { ...STATUS_SCHEMA, description: 'How it stands with the step' },
        },
        ['step_id'],
      ),
      output,
      annotations: { idempotent: true },
      examples: [
        { description: 'Begin with a step', input: { step_id: 1, status: 'in_progress' } },
      ],
      run: ({ step_id, title, status }, ctx) =>
        change(ctx, (keeper) => keeper.update(step_id, compact({ title, status }))),
    }),
    tool({
      name: 'planning_read_plan',
      summary: 'Read the plan as it is now',
      description: 'Fails where there is no plan yet.',
      output,
      annotations: { readOnly: true, idempotent: true },
      run: (_input, ctx) => toPlanReply(open(ctx, (keeper) => keeper.read(), { readOnly: true })),
    }),
  ]
}

function createInputSchema<Input>(
  properties: { readonly [field: string]: object },
  required: readonly string[],
) {
  return jsonSchema<Input>({ type: 'object', properties, required, additionalProperties: false })
}

async function toPlanReply(opened: Plan | Promise<Plan>) {
  const plan = await opened
  const { renderPlanChecklist } = await import('./plan.ts')
  return ok(plan, { message: renderPlanChecklist(plan) })
}
