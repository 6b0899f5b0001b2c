import { tool } from '../../call/tool.ts'
import type { AnyTool } from '../../call/tool.ts'
import type { Context } from '../../contract/context.ts'
import type { Plan } from '../../contract/plan.ts'
import { PLAN_LIMITS, STEP_STATUSES } from '../../contract/read-plan.ts'
import { ok } from '../../define/results.ts'
import { jsonSchema } from '../../define/schema/source.ts'
import type { PlanKeeper } from './plan-keeper.ts'
import type { StepChange } from './plan-model.ts'

/** Opens the plan that a call works on, lets it be worked on, and keeps what has become of it. */
export type OpenPlan = (
  ctx: Context,
  work: (keeper: PlanKeeper) => Plan,
  options: { /** Nothing will change. */ readonly readOnly: boolean },
) => Plan | Promise<Plan>

const TITLE = {
  type: 'string',
  description: `What is to be done: 1 to ${PLAN_LIMITS.title} characters`,
} as const
const STATUS = { type: 'string', enum: STEP_STATUSES } as const

const PLAN = {
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
          status: STATUS,
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
export function makePlanningTools(open: OpenPlan): readonly AnyTool[] {
  const change = (ctx: Context, work: (keeper: PlanKeeper) => Plan) =>
    answer(open(ctx, work, { readOnly: false }))
  const output = jsonSchema<Plan>(PLAN)
  return [
    tool({
      name: 'planning_setup_plan',
      summary: 'Begin a plan: what is to be reached, and the first steps towards it',
      description:
        'Replaces the plan that is there, if any. Steps are numbered from 1 and begin as pending; more can be added later.',
      input: inputOf<{ readonly objective: string; readonly initial_steps?: readonly string[] }>(
        {
          objective: {
            type: 'string',
            description: `What is to be reached: 1 to ${PLAN_LIMITS.objective} characters`,
          },
          initial_steps: {
            type: 'array',
            items: TITLE,
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
      input: inputOf<{ readonly steps: readonly string[] }>(
        {
          steps: {
            type: 'array',
            items: TITLE,
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
      input: inputOf<{ readonly step_id: number } & StepChange>(
        {
          step_id: { type: 'integer', minimum: 1, description: 'The number of the step' },
          title: TITLE,
          status: { ...STATUS, description: 'How it stands with the step' },
        },
        ['step_id'],
      ),
      output,
      annotations: { idempotent: true },
      examples: [
        { description: 'Begin with a step', input: { step_id: 1, status: 'in_progress' } },
      ],
      run: ({ step_id, title, status }, ctx) =>
        change(ctx, (keeper) =>
          keeper.update(step_id, {
            ...(title !== undefined && { title }),
            ...(status !== undefined && { status }),
          }),
        ),
    }),
    tool({
      name: 'planning_read_plan',
      summary: 'Read the plan as it is now',
      description: 'Fails where there is no plan yet.',
      output,
      annotations: { readOnly: true, idempotent: true },
      run: (_input, ctx) => answer(open(ctx, (keeper) => keeper.read(), { readOnly: true })),
    }),
  ]
}

function inputOf<Input>(
  properties: { readonly [field: string]: object },
  required: readonly string[],
) {
  return jsonSchema<Input>({ type: 'object', properties, required, additionalProperties: false })
}

async function answer(opened: Plan | Promise<Plan>) {
  const plan = await opened
  const { renderPlan } = await import('./plan-text.ts')
  return ok(plan, { message: renderPlan(plan) })
}
