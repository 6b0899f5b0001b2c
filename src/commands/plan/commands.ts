import { tool } from '../../call/tool.ts'
import { PLAN_LIMITS, STEP_STATUSES } from '../../contract/read-plan.ts'
import { servingProperties } from '../../surfaces/mcp/serving-properties.ts'
import type { ToolableCommand } from '../command.ts'
import { COMMON_PROPERTIES } from '../common-flags.ts'

const FILE = {
  type: 'string',
  description:
    'The session file; default: .toolable/session.json beside the nearest toolable.yaml, else in this directory',
} as const
const TITLE = {
  type: 'string',
  description: `What is to be done: 1 to ${PLAN_LIMITS.title} characters`,
} as const
const text = async () => (await import('./plan-text.ts')).renderPlanned

function objectOf(properties: object, required: readonly string[] = []) {
  return {
    type: 'object',
    properties: { ...properties, file: FILE, config: COMMON_PROPERTIES.config },
    required,
    additionalProperties: false,
  } as const
}

const showCommand: ToolableCommand = {
  path: ['plan', 'show'],
  tool: tool({
    name: 'plan_show',
    summary: 'Show the plan and how far it is',
    input: objectOf({}),
    annotations: { readOnly: true, idempotent: true },
    examples: [
      { description: 'Where are we?', args: [] },
      { description: 'The plan of another session', args: ['--file', 'nightly.json'] },
    ],
    run: async (input, ctx) => (await import('./work-on-plan.ts')).showPlan(input as never, ctx),
  }),
  text,
  tellsAll: true,
}

const setupCommand: ToolableCommand = {
  path: ['plan', 'setup'],
  tool: tool({
    name: 'plan_setup',
    summary: 'Begin a plan: what is to be reached, and the first steps',
    description:
      'Replaces the plan that is there. Steps are numbered from 1; plan add puts more at the end.',
    input: objectOf(
      {
        objective: {
          type: 'string',
          description: `What is to be reached: 1 to ${PLAN_LIMITS.objective} characters`,
        },
        steps: { type: 'array', items: TITLE, description: 'Titles of the first steps, in order' },
      },
      ['objective'],
    ),
    positional: ['objective', 'steps'],
    examples: [
      {
        description: 'With two steps',
        args: ['Ship version 2', 'Mend the failing test', 'Write the release notes'],
      },
    ],
    run: async (input, ctx) => (await import('./work-on-plan.ts')).setupPlan(input as never, ctx),
  }),
  text,
  tellsAll: true,
}

const addCommand: ToolableCommand = {
  path: ['plan', 'add'],
  tool: tool({
    name: 'plan_add',
    summary: 'Add steps to the end of the plan',
    input: objectOf(
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
    positional: ['steps'],
    examples: [{ description: 'One more', args: ['Ask for a review'] }],
    run: async (input, ctx) => (await import('./work-on-plan.ts')).addSteps(input as never, ctx),
  }),
  text,
  tellsAll: true,
}

const updateCommand: ToolableCommand = {
  path: ['plan', 'update'],
  tool: tool({
    name: 'plan_update',
    summary: 'Change the status or the title of a step',
    description: 'When the last open step is done, the plan is completed and closed to changes.',
    input: objectOf(
      {
        step: { type: 'integer', minimum: 1, description: 'The number of the step' },
        status: { type: 'string', enum: STEP_STATUSES, description: 'How it stands with the step' },
        title: TITLE,
      },
      ['step'],
    ),
    positional: ['step', 'status'],
    annotations: { idempotent: true },
    examples: [
      { description: 'Step 1 is done', args: ['1', 'done'] },
      { description: 'Say it better', args: ['2', '--title', 'Write the notes for users'] },
    ],
    run: async (input, ctx) => (await import('./work-on-plan.ts')).updateStep(input as never, ctx),
  }),
  text,
  tellsAll: true,
}

const clearCommand: ToolableCommand = {
  path: ['plan', 'clear'],
  tool: tool({
    name: 'plan_clear',
    summary: 'Forget the plan',
    description: 'Only the plan goes; what else the session file holds stays.',
    input: objectOf({}),
    annotations: { destructive: true, idempotent: true },
    examples: [{ description: 'Without being asked', args: ['--yes'] }],
    run: async (input, ctx) => (await import('./work-on-plan.ts')).clearPlan(input as never, ctx),
  }),
  text,
  tellsAll: true,
}

const serveCommand: ToolableCommand = {
  path: ['plan', 'serve'],
  tool: tool({
    name: 'plan_serve',
    summary: 'Serve the four planning tools over MCP',
    description:
      'planning_setup_plan, planning_add_step, planning_update_step and planning_read_plan on the session file, so that a plan outlives the agent and people can look at it with plan show. With stdio the client is on stdin and stdout, and the server ends with it.',
    input: objectOf(servingProperties()),
    examples: [
      { description: 'For a client that starts the program', args: ['--transport', 'stdio'] },
      { description: 'A plan for each task', args: ['--file', 'task-7.json'] },
    ],
  }),
  start: async (input, context) =>
    (await import('./serve-plan.ts')).servePlan(input as never, context),
}

/** `toolable plan show|setup|add|update|clear|serve`: the plan of a session, for people, agents and MCP clients. */
export const planCommands: readonly ToolableCommand[] = [
  showCommand,
  setupCommand,
  addCommand,
  updateCommand,
  clearCommand,
  serveCommand,
]
