import { tool } from '../../call/tool.ts'
import type { ToolableCommand } from '../command.ts'
import { COMMON_PROPERTIES } from '../common-flags.ts'
import { WORKFLOW } from './properties.ts'

/** `toolable workflow plan <file>`: what would be done. */
export const planCommand: ToolableCommand = {
  path: ['workflow', 'plan'],
  tool: tool({
    name: 'workflow_plan',
    summary: 'Show what a workflow would do, without doing it',
    description:
      'Every step in its order with its key, its tool, its condition, what it needs and its limits. With --input, what follows from the input alone is worked out: conditions, words of commands, inputs, questions, numbers of items.',
    input: {
      type: 'object',
      properties: {
        workflow: WORKFLOW,
        input: { type: 'object', description: 'An input of the workflow, as JSON' },
        config: COMMON_PROPERTIES.config,
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
    run: async (input, ctx) => (await import('./plan.ts')).planWorkflow(input as never, ctx),
  }),
  text: async () => (await import('./plan.ts')).renderPlan,
}
