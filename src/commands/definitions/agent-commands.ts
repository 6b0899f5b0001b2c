/**
 * Definitions: agent, and plan show|setup|add|update|clear|serve.
 */

import { createMcpServingProperties } from '../../http/serving-flags.ts'
import { PLAN_LIMITS, PLAN_STEP_STATUSES } from '../../protocol/plan.ts'
import { defineCommand, PROGRESS_PROPERTY, TEXTS_SCHEMA } from '../command.ts'

const COUNT_SCHEMA = { type: 'integer', minimum: 1 } as const

/** `toolable agent <task>`: lets a model work with the tools of the project, as a run on record. */
export const agentCommand = defineCommand({
  path: ['agent'],
  summary: 'Let a model work on a task with the tools of this project',
  description:
    'The model calls tools until it is done; what it says is shown as it comes, and JSON mode prints one envelope. It is a run: toolable runs show|logs, watch, cancel, answer and resume work on it, and its transcript is an artifact. Destructive tools ask first: a person at the terminal, JSON lines on stdin, or toolable answer with --wait; --yes consents to all of them.',
  properties: {
    task: { type: 'string', minLength: 1, description: 'What is to be done' },
    model: {
      type: 'string',
      description:
        'openai:<name> for a server that speaks the protocol of OpenAI, <package>:<name> for a provider of the ai package, or ./file.mjs that exports a model; default: TOOLABLE_MODEL',
    },
    baseUrl: {
      type: 'string',
      description: 'Where the server is; default: OPENAI_BASE_URL, else that of OpenAI',
    },
    apiKeyFile: { type: 'string', description: 'A file with the key; default: OPENAI_API_KEY' },
    system: { type: 'string', description: 'Instructions for the model' },
    prompt: {
      type: 'string',
      description:
        'A module whose default export is a prompt made with sections(): it brings instructions and tools, instead of the registry',
    },
    params: { type: 'object', description: 'The params of the prompt' },
    tools: {
      ...TEXTS_SCHEMA,
      description: 'Only these tools: names, ids, <source>.*; may be repeated',
    },
    maxTurns: { ...COUNT_SCHEMA, default: 20, description: 'Replies of the model' },
    maxTotalTokens: { ...COUNT_SCHEMA, description: 'Tokens in and out, together' },
    maxCalls: { ...COUNT_SCHEMA, description: 'Calls of tools' },
    maxOutputTokens: { ...COUNT_SCHEMA, description: 'Tokens of one reply' },
    parallel: {
      type: 'string',
      enum: ['safe', 'all', 'none'],
      default: 'safe',
      description: 'Calls at the same time: of read-only tools, all, or none',
    },
    wait: { type: 'boolean', description: 'Wait for toolable answer where nobody here can answer' },
    detach: { type: 'boolean', description: 'Run in the background' },
    progress: PROGRESS_PROPERTY,
  },
  required: ['task'],
  flags: 'registry',
  positional: ['task'],
  annotations: { openWorld: true },
  examples: [
    {
      description: 'With a model of OpenAI',
      args: ['Which of my tools is the slowest?', '--model', 'openai:gpt-5'],
    },
    {
      description: 'With a model on this machine',
      args: [
        'Tidy up the notes',
        ...'--model openai:qwen3 --base-url http://127.0.0.1:11434/v1 --tools notes.*'.split(' '),
      ],
    },
  ],
  start: async (input, context) =>
    (await import('../agent/start-agent.ts')).startAgent(input, context),
})

const FILE_SCHEMA = {
  type: 'string',
  description:
    'The session file; default: .toolable/session.json beside the nearest toolable.yaml, else in this directory',
} as const
const TITLE_SCHEMA = {
  type: 'string',
  description: `What is to be done: 1 to ${PLAN_LIMITS.title} characters`,
} as const
const PLAN_OUTPUT = {
  text: async () => (await import('../plan.ts')).renderPlan,
  tellsAll: true,
} as const

/** `toolable plan show`: the plan, and how far it is. */
export const planShowCommand = defineCommand({
  path: ['plan', 'show'],
  summary: 'Show the plan and how far it is',
  properties: { file: FILE_SCHEMA },
  flags: 'config',
  annotations: { readOnly: true, idempotent: true },
  examples: [
    { description: 'Where are we?', args: [] },
    { description: 'The plan of another session', args: ['--file', 'nightly.json'] },
  ],
  run: async (input, ctx) => (await import('../plan.ts')).showPlan(input, ctx),
  ...PLAN_OUTPUT,
})

/** `toolable plan setup`: begins a plan. */
export const planSetupCommand = defineCommand({
  path: ['plan', 'setup'],
  summary: 'Begin a plan: what is to be reached, and the first steps',
  description:
    'Replaces the plan that is there. Steps are numbered from 1; plan add puts more at the end.',
  properties: {
    objective: {
      type: 'string',
      description: `What is to be reached: 1 to ${PLAN_LIMITS.objective} characters`,
    },
    steps: {
      type: 'array',
      items: TITLE_SCHEMA,
      description: 'Titles of the first steps, in order',
    },
    file: FILE_SCHEMA,
  },
  required: ['objective'],
  flags: 'config',
  positional: ['objective', 'steps'],
  examples: [
    {
      description: 'With two steps',
      args: ['Ship version 2', 'Mend the failing test', 'Write the release notes'],
    },
  ],
  run: async (input, ctx) => (await import('../plan.ts')).setupPlan(input, ctx),
  ...PLAN_OUTPUT,
})

/** `toolable plan add`: adds steps. */
export const planAddCommand = defineCommand({
  path: ['plan', 'add'],
  summary: 'Add steps to the end of the plan',
  properties: {
    steps: {
      type: 'array',
      items: TITLE_SCHEMA,
      minItems: 1,
      description: 'Titles of the new steps, in order',
    },
    file: FILE_SCHEMA,
  },
  required: ['steps'],
  flags: 'config',
  positional: ['steps'],
  examples: [{ description: 'One more', args: ['Ask for a review'] }],
  run: async (input, ctx) => (await import('../plan.ts')).addSteps(input, ctx),
  ...PLAN_OUTPUT,
})

/** `toolable plan update`: changes a step. */
export const planUpdateCommand = defineCommand({
  path: ['plan', 'update'],
  summary: 'Change the status or the title of a step',
  description: 'When the last open step is done, the plan is completed and closed to changes.',
  properties: {
    step: { type: 'integer', minimum: 1, description: 'The number of the step' },
    status: {
      type: 'string',
      enum: PLAN_STEP_STATUSES,
      description: 'How it stands with the step',
    },
    title: TITLE_SCHEMA,
    file: FILE_SCHEMA,
  },
  required: ['step'],
  flags: 'config',
  positional: ['step', 'status'],
  annotations: { idempotent: true },
  examples: [
    { description: 'Step 1 is done', args: ['1', 'done'] },
    { description: 'Say it better', args: ['2', '--title', 'Write the notes for users'] },
  ],
  run: async (input, ctx) => (await import('../plan.ts')).updateStep(input, ctx),
  ...PLAN_OUTPUT,
})

/** `toolable plan clear`: forgets the plan. */
export const planClearCommand = defineCommand({
  path: ['plan', 'clear'],
  summary: 'Forget the plan',
  description: 'Only the plan goes; what else the session file holds stays.',
  properties: { file: FILE_SCHEMA },
  flags: 'config',
  annotations: { destructive: true, idempotent: true },
  examples: [{ description: 'Without being asked', args: ['--yes'] }],
  run: async (input, ctx) => (await import('../plan.ts')).clearPlan(input, ctx),
  ...PLAN_OUTPUT,
})

/** `toolable plan serve`: the planning tools over MCP. */
export const planServeCommand = defineCommand({
  path: ['plan', 'serve'],
  summary: 'Serve the four planning tools over MCP',
  description:
    'planning_setup_plan, planning_add_step, planning_update_step and planning_read_plan on the session file, so that a plan outlives the agent and people can look at it with plan show. With stdio the client is on stdin and stdout, and the server ends with it.',
  properties: { ...createMcpServingProperties(), file: FILE_SCHEMA },
  flags: 'config',
  examples: [
    { description: 'For a client that starts the program', args: ['--transport', 'stdio'] },
    { description: 'A plan for each task', args: ['--file', 'task-7.json'] },
  ],
  start: async (input, context) => (await import('../plan.ts')).servePlan(input, context),
})
