import { tool } from '../../call/tool.ts'
import type { ToolableCommand } from '../command.ts'
import { inputWith } from '../common-flags.ts'
import { WORKFLOW } from './properties.ts'

/** `toolable workflow validate <file>`: everything that can be known to be wrong before the start. */
export const validateCommand: ToolableCommand = {
  path: ['workflow', 'validate'],
  tool: tool({
    name: 'workflow_validate',
    summary: 'Check a workflow and the tools that it uses, before it is run',
    description:
      'Tells every problem with its line: keys, kinds and names, expressions and what they refer to, other workflows in it, tools that are not there, and inputs that cannot fit their tools or nested workflows. Exits 78 where there is one.',
    input: inputWith(
      {
        workflow: WORKFLOW,
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
      (await import('./validate.ts')).validateWorkflow(input as never, ctx),
  }),
  text: async () => (await import('./validate.ts')).renderValidated,
}
