/**
 * Definitions: workflow run|resume|list|show|watch|answer|cancel|validate|plan|graph.
 */

import { tool } from '../../core/tool.ts'
import { REGISTRY_PROPERTIES, withRegistryProperties, WORKFLOW_SCHEMA } from '../command.ts'
import type { ToolableCommand } from '../command.ts'
import { answerCommand, cancelCommand, runsCommands } from './runs-commands.ts'
import { RUN_PROPERTIES } from './tool-commands.ts'

const { detach, answer, wait, progress } = RUN_PROPERTIES
const EXECUTION_STATE_NAMES = [
  'queued',
  'running',
  'waiting_ai',
  'completed',
  'failed',
  'cancelled',
]

const workflowRunCommand: ToolableCommand = {
  path: ['workflow', 'run'],
  tool: tool({
    name: 'workflow_run',
    summary: 'Execute a workflow, durably and on record',
    description:
      'The execution is a run: toolable runs show|logs, watch, answer, cancel and resume work on it. What its steps have done is recorded, and never done again: after a crash, or kill -9, toolable workflow resume goes on where it was. Its events come as JSON lines, or as words for a person. --timeout limits the whole.',
    input: withRegistryProperties(
      {
        workflow: WORKFLOW_SCHEMA,
        input: {
          type: 'array',
          items: { type: 'string' },
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
      ['workflow'],
    ),
    positional: ['workflow', 'input'],
    examples: [
      { description: 'With an input', args: ['release.yaml', 'version=1.2.0'] },
      { description: 'In the background', args: ['nightly', '{"day": "monday"}', '--detach'] },
    ],
  }),
  start: async (input, context) =>
    (await import('../workflow/run-workflow.ts')).runWorkflow(input as never, context),
}

const workflowResumeCommand: ToolableCommand = {
  path: ['workflow', 'resume'],
  tool: tool({
    name: 'workflow_resume',
    summary: 'Go on with a workflow whose process died, or that nobody answered',
    description:
      'What is recorded is not done again. Without a run: every workflow of this project whose process died, each in the background.',
    input: {
      type: 'object',
      properties: {
        run: { type: 'string', description: "The id of a run, the beginning of it, or 'latest'" },
        detach,
        wait,
        answer,
        progress,
        config: REGISTRY_PROPERTIES.config,
      },
      additionalProperties: false,
    } as const,
    positional: ['run'],
    examples: [
      { description: 'All that were interrupted', args: [] },
      {
        description: 'With the answer that was missing',
        args: ['latest', '--answer', 'approve=yes'],
      },
    ],
  }),
  start: async (input, context) =>
    (await import('../workflow/resume-workflows.ts')).resumeWorkflows(input as never, context),
}

const workflowListCommand: ToolableCommand = {
  path: ['workflow', 'list'],
  tool: tool({
    name: 'workflow_list',
    summary: 'List the executions of workflows, newest first',
    input: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Only executions of this workflow' },
        state: {
          type: 'array',
          items: { type: 'string', enum: EXECUTION_STATE_NAMES },
          description: 'Only executions in this state; may be repeated',
        },
        limit: { type: 'integer', minimum: 1, default: 50, description: 'At most so many' },
        config: REGISTRY_PROPERTIES.config,
      },
      additionalProperties: false,
    } as const,
    annotations: { readOnly: true, idempotent: true },
    examples: [{ description: 'What waits for an answer?', args: ['--state', 'waiting_ai'] }],
    run: async (input, ctx) =>
      (await import('../workflow/list-executions.ts')).listWorkflowExecutions(input as never, ctx),
  }),
  text: async () => (await import('../workflow/list-executions.ts')).renderExecutions,
}

// The same commands, for whoever looks for them here.
const ALIAS_COMMANDS: readonly ToolableCommand[] = [
  ...runsCommands.filter(({ path }) => path.at(-1) === 'show' || path.at(-1) === 'watch'),
  answerCommand,
  cancelCommand,
].map((command) => ({ ...command, path: ['workflow', command.path.at(-1)!] }))

/** `toolable workflow run|resume|list` and what else is done with executions. */
const workflowExecutionCommands: readonly ToolableCommand[] = [
  workflowRunCommand,
  workflowResumeCommand,
  workflowListCommand,
  ...ALIAS_COMMANDS,
]

/**
 * `toolable workflow validate <file>`: everything that can be known to be wrong before the start.
 */
const workflowValidateCommand: ToolableCommand = {
  path: ['workflow', 'validate'],
  tool: tool({
    name: 'workflow_validate',
    summary: 'Check a workflow and the tools that it uses, before it is run',
    description:
      'Tells every problem with its line: keys, kinds and names, expressions and what they refer to, other workflows in it, tools that are not there, and inputs that cannot fit their tools or nested workflows. Exits 78 where there is one.',
    input: withRegistryProperties(
      {
        workflow: WORKFLOW_SCHEMA,
        tools: { type: 'boolean', default: true, description: 'Look at the tools too' },
      },
      ['workflow'],
    ),
    positional: ['workflow'],
    annotations: { readOnly: true, idempotent: true },
    examples: [
      { description: 'Before it is committed', args: ['nightly.yaml'] },
      { description: 'Without the tools of this machine', args: ['nightly.yaml', '--no-tools'] },
    ],
    run: async (input, ctx) =>
      (await import('../workflow/describe-workflow.ts')).validateWorkflow(input as never, ctx),
  }),
  text: async () => (await import('../workflow/describe-workflow.ts')).renderValidated,
}

/** `toolable workflow plan <file>`: what would be done. */
const workflowPlanCommand: ToolableCommand = {
  path: ['workflow', 'plan'],
  tool: tool({
    name: 'workflow_plan',
    summary: 'Show what a workflow would do, without doing it',
    description:
      'Every step in its order with its key, its tool, its condition, what it needs and its limits. With --input, what follows from the input alone is worked out: conditions, words of commands, inputs, questions, numbers of items.',
    input: {
      type: 'object',
      properties: {
        workflow: WORKFLOW_SCHEMA,
        input: { type: 'object', description: 'An input of the workflow, as JSON' },
        config: REGISTRY_PROPERTIES.config,
      },
      required: ['workflow'],
      additionalProperties: false,
    },
    positional: ['workflow'],
    annotations: { readOnly: true, idempotent: true },
    examples: [
      { description: 'What is in it?', args: ['nightly.yaml'] },
      { description: 'With an input', args: ['nightly.yaml', '--input', '{"root":"src"}'] },
    ],
    run: async (input, ctx) =>
      (await import('../workflow/describe-workflow.ts')).planWorkflow(input as never, ctx),
  }),
  text: async () => (await import('../workflow/describe-workflow.ts')).renderWorkflowPlan,
}

/** `toolable workflow graph <file>`: a picture. */
const workflowGraphCommand: ToolableCommand = {
  path: ['workflow', 'graph'],
  tool: tool({
    name: 'workflow_graph',
    summary: 'Draw a workflow as a Mermaid flowchart',
    description:
      'GitHub, GitLab and many editors show it as a picture. With -o text only the chart is printed, for a file.',
    input: {
      type: 'object',
      properties: { workflow: WORKFLOW_SCHEMA, config: REGISTRY_PROPERTIES.config },
      required: ['workflow'],
      additionalProperties: false,
    },
    positional: ['workflow'],
    annotations: { readOnly: true, idempotent: true },
    examples: [{ description: 'Into a file', args: ['nightly.yaml', '-o', 'text'] }],
    run: async (input, ctx) =>
      (await import('../workflow/describe-workflow.ts')).graphWorkflow(input as never, ctx),
  }),
  text: async () => (await import('../workflow/describe-workflow.ts')).renderGraph,
}

/** `toolable workflow ...`, in the order in which help shows them. */
export const workflowCommands: readonly ToolableCommand[] = [
  ...workflowExecutionCommands,
  workflowValidateCommand,
  workflowPlanCommand,
  workflowGraphCommand,
]
