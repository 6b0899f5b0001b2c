import { tool } from '../../call/tool.ts'
import {
  PROTOCOL_EVENT_TYPES,
  RUNNER_EVENT_TYPES,
  TASK_EVENT_TYPES,
} from '../../contract/events.ts'
import type { ToolableCommand } from '../command.ts'
import { COMMON_PROPERTIES } from '../common-flags.ts'
import { PROGRESS_PROPERTY } from '../progress/progress-flag.ts'

const STATES = ['queued', 'running', 'waiting_ai', 'completed', 'failed', 'cancelled']
const ENDS = ['completed', 'failed', 'cancelled']
const RUN = {
  type: 'string',
  description: "Its id, as much of it as no other run begins with, or 'latest'",
} as const
const SINCE = {
  type: 'integer',
  minimum: 1,
  description: 'Only events from this number (seq) on',
} as const

function objectOf(properties: object, required: readonly string[] = []) {
  return {
    type: 'object',
    properties: { ...properties, config: COMMON_PROPERTIES.config },
    required,
    additionalProperties: false,
  } as const
}

const listCommand: ToolableCommand = {
  path: ['runs', 'list'],
  tool: tool({
    name: 'runs_list',
    summary: 'List the runs of this project, newest first',
    description:
      'What was run, where it stands and how it ended. Runs whose runner died are finished first: they have failed as INTERRUPTED.',
    input: objectOf({
      state: {
        type: 'array',
        items: { type: 'string', enum: STATES },
        description: 'Only runs in this state; may be repeated',
      },
      tool: { type: 'string', description: 'Only runs of this tool' },
      limit: { type: 'integer', minimum: 1, default: 50, description: 'At most so many' },
    }),
    annotations: { readOnly: true, idempotent: true },
    examples: [
      { description: 'What is going on?', args: ['--state', 'running', '--state', 'waiting_ai'] },
      {
        description: 'The last failures of a tool',
        args: ['--tool', 'import', '--state', 'failed', '--limit', '5'],
      },
    ],
    run: async (input, ctx) => (await import('./list.ts')).listRecords(input as never, ctx),
  }),
  text: async () => (await import('./list-text.ts')).renderRuns,
}

const showCommand: ToolableCommand = {
  path: ['runs', 'show'],
  tool: tool({
    name: 'runs_show',
    summary: 'Show where a run stands, or how it ended',
    description: 'State, progress, open questions, result or error, artifacts and folder of a run.',
    input: objectOf({ run: RUN }, ['run']),
    positional: ['run'],
    annotations: { readOnly: true, idempotent: true },
    examples: [{ description: 'The newest run', args: ['latest'] }],
    run: async (input, ctx) => (await import('./show.ts')).showRecord(input as never, ctx),
  }),
  text: async () => (await import('./show-text.ts')).renderRun,
}

const logsCommand: ToolableCommand = {
  path: ['runs', 'logs'],
  tool: tool({
    name: 'runs_logs',
    summary: 'Print the record of a run',
    description:
      'One event a line: JSON for programs, words for people. --follow goes on until the run is over. --stderr prints what the tool wrote to stderr instead.',
    input: objectOf(
      {
        run: RUN,
        follow: { type: 'boolean', description: 'Go on until the run is over' },
        stderr: { type: 'boolean', description: 'What the tool wrote to stderr' },
        type: {
          type: 'array',
          items: {
            type: 'string',
            enum: [...PROTOCOL_EVENT_TYPES, ...RUNNER_EVENT_TYPES, ...TASK_EVENT_TYPES],
          },
          description: 'Only events of this type; may be repeated',
        },
        since: SINCE,
      },
      ['run'],
    ),
    positional: ['run'],
    annotations: { readOnly: true, idempotent: true },
    examples: [
      {
        description: 'What went wrong?',
        args: ['latest', '--type', 'error', '--type', 'runner_error'],
      },
      { description: 'As it comes', args: ['latest', '--follow'] },
    ],
  }),
  start: async (input, context) => (await import('./logs.ts')).printLogs(input as never, context),
}

const cleanCommand: ToolableCommand = {
  path: ['runs', 'clean'],
  tool: tool({
    name: 'runs_clean',
    summary: 'Remove runs that are over, with everything in their folders',
    description:
      'Only runs that are over are removed, never one that is still going on. Without a choice: all of them.',
    input: objectOf({
      olderThan: {
        type: 'string',
        description: 'Only runs that ended longer ago: 30m, 12h, 7d, 4w',
      },
      keep: {
        type: 'integer',
        minimum: 0,
        description: 'Leave the newest so many of those that would go',
      },
      state: {
        type: 'array',
        items: { type: 'string', enum: ENDS },
        description: 'Only runs that ended so; may be repeated',
      },
    }),
    annotations: { destructive: true, idempotent: true },
    dryRun: true,
    examples: [
      { description: 'See what would go', args: ['--older-than', '7d', '--dry-run'] },
      {
        description: 'All but the last 20 that completed',
        args: ['--state', 'completed', '--keep', '20', '--yes'],
      },
    ],
    run: async (input, ctx) => (await import('./clean.ts')).cleanRecords(input as never, ctx),
  }),
  text: async () => (await import('./clean-text.ts')).renderCleaned,
}

const exportCommand: ToolableCommand = {
  path: ['runs', 'export'],
  tool: tool({
    name: 'runs_export',
    summary: 'Export a run as a trace for OpenTelemetry',
    description:
      'Prints the spans of a run (the run, its attempts, tasks and questions) as OTLP/JSON, or posts them to a collector. Nothing is ever sent that was not asked for here.',
    input: objectOf(
      {
        run: RUN,
        format: { type: 'string', enum: ['otlp'], default: 'otlp', description: 'OTLP/JSON' },
        endpoint: {
          type: 'string',
          description: 'The exact address of a collector; default: print',
        },
      },
      ['run'],
    ),
    positional: ['run'],
    annotations: { readOnly: true, idempotent: true },
    examples: [
      {
        description: 'To a collector on this machine',
        args: ['latest', '--endpoint', 'http://127.0.0.1:4318/v1/traces'],
      },
    ],
  }),
  start: async (input, context) =>
    (await import('./export.ts')).exportRecord(input as never, context),
}

const watchCommand: ToolableCommand = {
  path: ['watch'],
  tool: tool({
    name: 'watch',
    summary: 'Follow runs until they are over',
    description:
      'Prints the events of a run from its beginning, or from --since, and ends with it: the exit status is 0 when it completed, else that of the run. Of several runs, that of the first one named that did not complete. --all follows everything that is going on.',
    input: objectOf({
      run: { type: 'array', items: RUN, description: 'One or more runs' },
      all: { type: 'boolean', description: 'Every run that is going on' },
      since: SINCE,
      progress: PROGRESS_PROPERTY,
    }),
    positional: ['run'],
    annotations: { readOnly: true, idempotent: true },
    examples: [
      { description: 'The newest run', args: ['latest'] },
      { description: 'Everything that is going on', args: ['--all'] },
    ],
  }),
  start: async (input, context) => (await import('./watch.ts')).watchRuns(input as never, context),
}

/** `toolable runs list|show|logs|export|clean` and `toolable watch`: what was run, and how it went. */
export const runsCommands: readonly ToolableCommand[] = [
  listCommand,
  showCommand,
  logsCommand,
  exportCommand,
  cleanCommand,
  watchCommand,
]
