/**
 * Definitions: workflow run|resume|list|show|watch|answer|cancel|validate|plan|graph.
 */

import { RUN_STATES } from '../../protocol/run-state.ts'
import type { ToolableCommand } from '../command.ts'
import {
  defineCommand,
  REGISTRY_PROPERTIES,
  RUN_PROPERTIES,
  RUN_SCHEMA,
  TEXTS_SCHEMA,
  WORKFLOW_SCHEMA,
} from '../command.ts'
import { answerCommand, cancelCommand, runsShowCommand, watchCommand } from './runs-commands.ts'

const { detach, answer, wait, progress } = RUN_PROPERTIES

/** `toolable workflow run <workflow>`: executes one. */
export const workflowRunCommand = defineCommand({
  path: ['workflow', 'run'],
  summary: 'Execute a workflow, durably and on record',
  description:
    'The execution is a run: toolable runs show|logs, watch, answer, cancel and resume work on it. What its steps have done is recorded, and never done again: after a crash, or kill -9, toolable workflow resume goes on where it was. Its events come as JSON lines, or as words for a person. --timeout limits the whole.',
  properties: {
    workflow: WORKFLOW_SCHEMA,
    input: {
      ...TEXTS_SCHEMA,
      description:
        'Its input: key=value, a JSON object, @file.json, or - for stdin; may be repeated',
    },
    detach,
    wait,
    progress,
    answer: {
      ...answer,
      description:
        'An answer before the workflow asks: key=value, the decision_type or the id of the question',
    },
    id: {
      type: 'string',
      description: 'The id of the run, such as r-0123456789; default: a new one',
    },
    engine: {
      type: 'string',
      enum: ['embedded', 'restate'],
      default: 'embedded',
      description: 'Where it is executed: in this process, or by workers on a Restate server',
    },
    ingress: {
      type: 'string',
      description:
        'Of the engine restate: where its server takes calls; default http://127.0.0.1:8080',
    },
    admin: {
      type: 'string',
      description:
        'Of the engine restate: where its server is administered, so that questions are seen also while no worker is there',
    },
  },
  required: ['workflow'],
  flags: 'registry',
  positional: ['workflow', 'input'],
  examples: [
    { description: 'With an input', args: ['release.yaml', 'version=1.2.0'] },
    { description: 'In the background', args: ['nightly', '{"day": "monday"}', '--detach'] },
  ],
  start: async (input, context) =>
    (await import('../workflow/run-workflow.ts')).runWorkflow(input, context),
})

/** `toolable workflow resume [run]`: resumes executions. */
export const workflowResumeCommand = defineCommand({
  path: ['workflow', 'resume'],
  summary: 'Go on with a workflow whose process died, or that nobody answered',
  description:
    'What is recorded is not done again. Without a run: every workflow of this project whose process died, each in the background.',
  properties: {
    run: RUN_SCHEMA,
    detach,
    wait,
    answer,
    progress,
    config: REGISTRY_PROPERTIES.config,
  },
  positional: ['run'],
  examples: [
    { description: 'All that were interrupted', args: [] },
    {
      description: 'With the answer that was missing',
      args: ['latest', '--answer', 'approve=yes'],
    },
  ],
  start: async (input, context) =>
    (await import('../control/resume.ts')).resumeWorkflows(input, context),
  completes: 'run',
})

/** `toolable workflow list`: the executions. */
export const workflowListCommand = defineCommand({
  path: ['workflow', 'list'],
  summary: 'List the executions of workflows, newest first',
  properties: {
    name: { type: 'string', description: 'Only executions of this workflow' },
    state: {
      type: 'array',
      items: { type: 'string', enum: RUN_STATES },
      description: 'Only executions in this state; may be repeated',
    },
    limit: { type: 'integer', minimum: 1, default: 50, description: 'At most so many' },
    config: REGISTRY_PROPERTIES.config,
  },
  annotations: { readOnly: true, idempotent: true },
  examples: [{ description: 'What waits for an answer?', args: ['--state', 'waiting_ai'] }],
  run: async (input, ctx) =>
    (await import('../runs/list-runs.ts')).listWorkflowExecutions(input, ctx),
  text: async () => (await import('../runs/list-runs.ts')).renderExecutions,
})

/** The commands of runs that work on executions too, for people who look for them here. */
export const workflowAliases: readonly ToolableCommand[] = [
  runsShowCommand,
  watchCommand,
  answerCommand,
  cancelCommand,
].map((command) => ({ ...command, path: ['workflow', command.path.at(-1)!] }))

/**
 * `toolable workflow validate <file>`: everything that can be known to be wrong before the start.
 */
export const workflowValidateCommand = defineCommand({
  path: ['workflow', 'validate'],
  summary: 'Check a workflow and the tools that it uses, before it is run',
  description:
    'Tells every problem with its line: keys, kinds and names, expressions and what they refer to, other workflows in it, tools that are not there, and inputs that cannot fit their tools or nested workflows. Exits 78 where there is one.',
  properties: {
    workflow: WORKFLOW_SCHEMA,
    tools: { type: 'boolean', default: true, description: 'Look at the tools too' },
  },
  required: ['workflow'],
  flags: 'registry',
  positional: ['workflow'],
  annotations: { readOnly: true, idempotent: true },
  examples: [
    { description: 'Before it is committed', args: ['nightly.yaml'] },
    { description: 'Without the tools of this machine', args: ['nightly.yaml', '--no-tools'] },
  ],
  run: async (input, ctx) =>
    (await import('../workflow/describe-workflow.ts')).validateWorkflow(input, ctx),
  text: async () => (await import('../workflow/describe-workflow.ts')).renderValidated,
})

/** `toolable workflow plan <file>`: what would be done. */
export const workflowPlanCommand = defineCommand({
  path: ['workflow', 'plan'],
  summary: 'Show what a workflow would do, without doing it',
  description:
    'Every step in its order with its key, its tool, its condition, what it needs and its limits. With --input, what follows from the input alone is worked out: conditions, words of commands, inputs, questions, numbers of items.',
  properties: {
    workflow: WORKFLOW_SCHEMA,
    input: { type: 'object', description: 'An input of the workflow, as JSON' },
  },
  required: ['workflow'],
  flags: 'config',
  positional: ['workflow'],
  annotations: { readOnly: true, idempotent: true },
  examples: [
    { description: 'What is in it?', args: ['nightly.yaml'] },
    { description: 'With an input', args: ['nightly.yaml', '--input', '{"root":"src"}'] },
  ],
  run: async (input, ctx) =>
    (await import('../workflow/describe-workflow.ts')).planWorkflow(input, ctx),
  text: async () => (await import('../workflow/describe-workflow.ts')).renderWorkflowPlan,
})

/** `toolable workflow graph <file>`: a picture. */
export const workflowGraphCommand = defineCommand({
  path: ['workflow', 'graph'],
  summary: 'Draw a workflow as a Mermaid flowchart',
  description:
    'GitHub, GitLab and many editors show it as a picture. With -o text only the chart is printed, for a file.',
  properties: { workflow: WORKFLOW_SCHEMA },
  required: ['workflow'],
  flags: 'config',
  positional: ['workflow'],
  annotations: { readOnly: true, idempotent: true },
  examples: [{ description: 'Into a file', args: ['nightly.yaml', '-o', 'text'] }],
  run: async (input, ctx) =>
    (await import('../workflow/describe-workflow.ts')).graphWorkflow(input, ctx),
  text: async () => (await import('../workflow/describe-workflow.ts')).renderGraph,
})
