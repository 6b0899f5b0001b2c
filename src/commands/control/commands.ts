import { tool } from '../../call/tool.ts'
import type { ToolableCommand } from '../command.ts'
import { COMMON_PROPERTIES } from '../common-flags.ts'
import { RUN_PROPERTIES } from '../run/command.ts'

const RUN = {
  type: 'string',
  description: "The id of a run, the beginning of it, or 'latest'",
} as const

/** `toolable cancel <run>`: ends a run. */
export const cancelCommand: ToolableCommand = {
  path: ['cancel'],
  tool: tool({
    name: 'cancel',
    summary: 'Cancel a run',
    description:
      'Asks the tool to end, by its cancel file and SIGTERM; what does not end within its grace is killed, with everything that it has started. Waits until the run is over.',
    input: {
      type: 'object',
      properties: {
        run: RUN,
        reason: { type: 'string', maxLength: 500, description: 'Why, for the record' },
        wait: { type: 'boolean', default: true, description: 'Wait until the run is over' },
        config: COMMON_PROPERTIES.config,
      },
      required: ['run'],
      additionalProperties: false,
    } as const,
    positional: ['run'],
    annotations: { idempotent: true },
    examples: [{ description: 'The last one', args: ['latest'] }],
    run: async (input, ctx) => (await import('./cancel.ts')).cancelRun(input as never, ctx),
  }),
}

/** `toolable answer <run> <value>`: answers a question that a run waits for. */
export const answerCommand: ToolableCommand = {
  path: ['answer'],
  tool: tool({
    name: 'answer',
    summary: 'Answer the question that a run waits for',
    description:
      'The value is read as the question wants it: one of its options, yes or no, JSON that fits its schema, else text. The first answer counts. Without --question the only open question is meant; toolable runs show tells what is asked.',
    input: {
      type: 'object',
      properties: {
        run: RUN,
        value: { type: 'string', description: 'The answer' },
        question: { type: 'string', description: 'The id, key or action of the question' },
        config: COMMON_PROPERTIES.config,
      },
      required: ['run', 'value'],
      additionalProperties: false,
    } as const,
    positional: ['run', 'value'],
    examples: [
      { description: 'Yes', args: ['latest', 'true'] },
      {
        description: 'A choice',
        args: ['r-0123456789', 'batch', '--question', 'choose_migration_strategy'],
      },
    ],
    run: async (input, ctx) => (await import('./answer.ts')).answerRun(input as never, ctx),
  }),
}

/** `toolable resume <run>`: goes on with a run that failed or was cancelled. `runResume` does it; this is what help and completion know. */
export const resumeCommand: ToolableCommand = {
  path: ['resume'],
  tool: tool({
    name: 'resume',
    summary: 'Go on with a run that failed or was cancelled',
    description:
      'A new attempt under the same id, with the same arguments, in the same workspace, so that the tool finds its checkpoints. What was said by flags before can be said anew: --timeout, --answer, --retries.',
    input: {
      type: 'object',
      properties: { run: RUN, ...RUN_PROPERTIES, config: COMMON_PROPERTIES.config },
      required: ['run'],
      additionalProperties: false,
    } as const,
    positional: ['run'],
    examples: [{ description: 'The last one', args: ['latest'] }],
  }),
}
