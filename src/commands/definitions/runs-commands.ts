/**
 * Definitions: resume, cancel, answer, runs list|show|logs|export|clean, watch.
 */

import {
  PROTOCOL_EVENT_TYPES,
  RUNNER_EVENT_TYPES,
  TASK_EVENT_TYPES,
} from '../../protocol/events.ts'
import { isFinished, RUN_STATES } from '../../protocol/run-state.ts'
import { defineCommand, PROGRESS_PROPERTY, RUN_PROPERTIES, RUN_SCHEMA } from '../command.ts'

/** `toolable cancel <run>`: ends a run. */
export const cancelCommand = defineCommand({
  path: ['cancel'],
  summary: 'Cancel a run',
  description:
    'Asks the tool to end, by its cancel file and SIGTERM; what does not end within its grace is killed, with everything that it has started. Waits until the run is over.',
  properties: {
    run: RUN_SCHEMA,
    reason: { type: 'string', maxLength: 500, description: 'Why, for the record' },
    wait: { type: 'boolean', default: true, description: 'Wait until the run is over' },
  },
  required: ['run'],
  flags: 'config',
  positional: ['run'],
  annotations: { idempotent: true },
  examples: [{ description: 'The last one', args: ['latest'] }],
  run: async (input, ctx) => (await import('../control/control-run.ts')).cancelRun(input, ctx),
  completes: 'run',
})

/** `toolable answer <run> <value>`: answers a question that a run waits for. */
export const answerCommand = defineCommand({
  path: ['answer'],
  summary: 'Answer the question that a run waits for',
  description:
    'The value is read as the question wants it: one of its options, yes or no, JSON that fits its schema, else text. The first answer counts. Without --question the only open question is meant; toolable runs show tells what is asked.',
  properties: {
    run: RUN_SCHEMA,
    value: { type: 'string', description: 'The answer' },
    question: { type: 'string', description: 'The id, key or action of the question' },
  },
  required: ['run', 'value'],
  flags: 'config',
  positional: ['run', 'value'],
  examples: [
    { description: 'Yes', args: ['latest', 'true'] },
    {
      description: 'A choice',
      args: ['r-0123456789', 'batch', '--question', 'choose_migration_strategy'],
    },
  ],
  run: async (input, ctx) =>
    (await import('../control/control-run.ts')).answerFromCommandLine(input, ctx),
  completes: 'run',
})

/** `toolable resume <run>`: resumes a failed or cancelled run. */
export const resumeCommand = defineCommand({
  path: ['resume'],
  summary: 'Go on with a run that failed or was cancelled',
  description:
    'A new attempt under the same id, with the same arguments, in the same workspace, so that the tool finds its checkpoints. What was said by flags before can be said anew: --timeout, --answer, --retries.',
  properties: { run: RUN_SCHEMA, ...RUN_PROPERTIES },
  required: ['run'],
  flags: 'config',
  positional: ['run'],
  examples: [{ description: 'The last one', args: ['latest'] }],
  runRaw: async (command, context) =>
    (await import('../control/resume.ts')).runResume(command, context),
  completes: 'run',
})

const RUN_ID_SCHEMA = {
  type: 'string',
  description: "Its id, as much of it as no other run begins with, or 'latest'",
} as const
const SINCE_SCHEMA = {
  type: 'integer',
  minimum: 1,
  description: 'Only events from this number (seq) on',
} as const

/** `toolable runs list`: what was run. */
export const runsListCommand = defineCommand({
  path: ['runs', 'list'],
  summary: 'List the runs of this project, newest first',
  description:
    'What was run, where it stands and how it ended. Runs whose runner died are finished first: they have failed as INTERRUPTED.',
  properties: {
    state: {
      type: 'array',
      items: { type: 'string', enum: RUN_STATES },
      description: 'Only runs in this state; may be repeated',
    },
    tool: { type: 'string', description: 'Only runs of this tool' },
    limit: { type: 'integer', minimum: 1, default: 50, description: 'At most so many' },
  },
  flags: 'config',
  annotations: { readOnly: true, idempotent: true },
  examples: [
    { description: 'What is going on?', args: ['--state', 'running', '--state', 'waiting_ai'] },
    {
      description: 'The last failures of a tool',
      args: ['--tool', 'import', '--state', 'failed', '--limit', '5'],
    },
  ],
  run: async (input, ctx) => (await import('../runs/list-runs.ts')).listRunRows(input, ctx),
  text: async () => (await import('../runs/list-runs.ts')).renderRunList,
})

/** `toolable runs show <run>`: one run. */
export const runsShowCommand = defineCommand({
  path: ['runs', 'show'],
  summary: 'Show where a run stands, or how it ended',
  description: 'State, progress, open questions, result or error, artifacts and folder of a run.',
  properties: { run: RUN_ID_SCHEMA },
  required: ['run'],
  flags: 'config',
  positional: ['run'],
  annotations: { readOnly: true, idempotent: true },
  examples: [{ description: 'The newest run', args: ['latest'] }],
  run: async (input, ctx) => (await import('../runs/show-run.ts')).showRun(input, ctx),
  text: async () => (await import('../runs/show-run.ts')).renderShownRun,
  completes: 'run',
})

/** `toolable runs logs <run>`: its record. */
export const runsLogsCommand = defineCommand({
  path: ['runs', 'logs'],
  summary: 'Print the record of a run',
  description:
    'One event a line: JSON for programs, words for people. --follow goes on until the run is over. --stderr prints what the tool wrote to stderr instead.',
  properties: {
    run: RUN_ID_SCHEMA,
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
    since: SINCE_SCHEMA,
  },
  required: ['run'],
  flags: 'config',
  positional: ['run'],
  annotations: { readOnly: true, idempotent: true },
  examples: [
    {
      description: 'What went wrong?',
      args: ['latest', '--type', 'error', '--type', 'runner_error'],
    },
    { description: 'As it comes', args: ['latest', '--follow'] },
  ],
  start: async (input, context) => (await import('../runs/watch.ts')).printRunLogs(input, context),
  completes: 'run',
})

/** `toolable runs clean`: removes runs. */
export const runsCleanCommand = defineCommand({
  path: ['runs', 'clean'],
  summary: 'Remove runs that are over, with everything in their folders',
  description:
    'Only runs that are over are removed, never one that is still going on. Without a choice: all of them.',
  properties: {
    olderThan: { type: 'string', description: 'Only runs that ended longer ago: 30m, 12h, 7d, 4w' },
    keep: {
      type: 'integer',
      minimum: 0,
      description: 'Leave the newest so many of those that would go',
    },
    state: {
      type: 'array',
      items: { type: 'string', enum: RUN_STATES.filter(isFinished) },
      description: 'Only runs that ended so; may be repeated',
    },
  },
  flags: 'config',
  annotations: { destructive: true, idempotent: true },
  dryRun: true,
  examples: [
    { description: 'See what would go', args: ['--older-than', '7d', '--dry-run'] },
    {
      description: 'All but the last 20 that completed',
      args: ['--state', 'completed', '--keep', '20', '--yes'],
    },
  ],
  run: async (input, ctx) => (await import('../runs/clean-runs.ts')).cleanRuns(input, ctx),
  text: async () => (await import('../runs/clean-runs.ts')).renderCleanResult,
})

/** `toolable runs export <run>`: a trace. */
export const runsExportCommand = defineCommand({
  path: ['runs', 'export'],
  summary: 'Export a run as a trace for OpenTelemetry',
  description:
    'Prints the spans of a run (the run, its attempts, tasks and questions) as OTLP/JSON, or posts them to a collector. Nothing is ever sent that was not asked for here.',
  properties: {
    run: RUN_ID_SCHEMA,
    format: { type: 'string', enum: ['otlp'], default: 'otlp', description: 'OTLP/JSON' },
    endpoint: { type: 'string', description: 'The exact address of a collector; default: print' },
  },
  required: ['run'],
  flags: 'config',
  positional: ['run'],
  annotations: { readOnly: true, idempotent: true },
  examples: [
    {
      description: 'To a collector on this machine',
      args: ['latest', '--endpoint', 'http://127.0.0.1:4318/v1/traces'],
    },
  ],
  start: async (input, context) => (await import('../runs/watch.ts')).exportRun(input, context),
  completes: 'run',
})

/** `toolable watch <run>...`: follows runs. */
export const watchCommand = defineCommand({
  path: ['watch'],
  summary: 'Follow runs until they are over',
  description:
    'Prints the events of a run from its beginning, or from --since, and ends with it: the exit status is 0 when it completed, else that of the run. Of several runs, that of the first one named that did not complete. --all follows everything that is going on.',
  properties: {
    run: { type: 'array', items: RUN_ID_SCHEMA, description: 'One or more runs' },
    all: { type: 'boolean', description: 'Every run that is going on' },
    since: SINCE_SCHEMA,
    progress: PROGRESS_PROPERTY,
  },
  flags: 'config',
  positional: ['run'],
  annotations: { readOnly: true, idempotent: true },
  examples: [
    { description: 'The newest run', args: ['latest'] },
    { description: 'Everything that is going on', args: ['--all'] },
  ],
  start: async (input, context) => (await import('../runs/watch.ts')).watchRuns(input, context),
  completes: 'runs',
})
