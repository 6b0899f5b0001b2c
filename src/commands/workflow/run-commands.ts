import { tool } from '../../call/tool.ts'
import type { ToolableCommand } from '../command.ts'
import { COMMON_PROPERTIES, inputWith } from '../common-flags.ts'
import { answerCommand, cancelCommand } from '../control/commands.ts'
import { RUN_PROPERTIES } from '../run/command.ts'
import { runsCommands } from '../runs/commands.ts'
import { WORKFLOW } from './properties.ts'

const { detach, answer, wait, progress } = RUN_PROPERTIES
const STATES = ['queued', 'running', 'waiting_ai', 'completed', 'failed', 'cancelled']

const runCommand: ToolableCommand = {
  path: ['workflow', 'run'],
  tool: tool({
    name: 'workflow_run',
    summary: 'Execute a workflow, durably and on record',
    description:
      'The execution is a run: toolable runs show|logs, watch, answer, cancel and resume work on it. What its steps have done is recorded, and never done again: after a crash, or kill -9, toolable workflow resume goes on where it was. Its events come as JSON lines, or as words for a person. --timeout limits the whole.',
    input: inputWith(
      {
        workflow: WORKFLOW,
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
  start: async (input, context) => (await import('./run.ts')).runWorkflow(input as never, context),
}

const resumeCommand: ToolableCommand = {
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
        config: COMMON_PROPERTIES.config,
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
    (await import('./resume.ts')).resumeWorkflows(input as never, context),
}

const listCommand: ToolableCommand = {
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
          items: { type: 'string', enum: STATES },
          description: 'Only executions in this state; may be repeated',
        },
        limit: { type: 'integer', minimum: 1, default: 50, description: 'At most so many' },
        config: COMMON_PROPERTIES.config,
      },
      additionalProperties: false,
    } as const,
    annotations: { readOnly: true, idempotent: true },
    examples: [{ description: 'What waits for an answer?', args: ['--state', 'waiting_ai'] }],
    run: async (input, ctx) => (await import('./list.ts')).listExecutions(input as never, ctx),
  }),
  text: async () => (await import('./list-text.ts')).renderExecutions,
}

// The same commands, for whoever looks for them here.
const ALIASES: readonly ToolableCommand[] = [
  ...runsCommands.filter(({ path }) => path.at(-1) === 'show' || path.at(-1) === 'watch'),
  answerCommand,
  cancelCommand,
].map((command) => ({ ...command, path: ['workflow', command.path.at(-1)!] }))

/** `toolable workflow run|resume|list` and what else is done with executions. */
export const workflowRunCommands: readonly ToolableCommand[] = [
  runCommand,
  resumeCommand,
  listCommand,
  ...ALIASES,
]
