import { tool } from '../../call/tool.ts'
import type { ToolableCommand } from '../command.ts'
import { COMMON_PROPERTIES } from '../common-flags.ts'
import { WORKFLOW } from './properties.ts'

/** `toolable workflow graph <file>`: a picture. */
export const graphCommand: ToolableCommand = {
  path: ['workflow', 'graph'],
  tool: tool({
    name: 'workflow_graph',
    summary: 'Draw a workflow as a Mermaid flowchart',
    description:
      'GitHub, GitLab and many editors show it as a picture. With -o text only the chart is printed, for a file.',
    input: {
      type: 'object',
      properties: { workflow: WORKFLOW, config: COMMON_PROPERTIES.config },
      required: ['workflow'],
      additionalProperties: false,
    },
    positional: ['workflow'],
    annotations: { readOnly: true, idempotent: true },
    examples: [{ description: 'Into a file', args: ['nightly.yaml', '-o', 'text'] }],
    run: async (input, ctx) => (await import('./graph.ts')).graphWorkflow(input as never, ctx),
  }),
  text: async () => (await import('./graph.ts')).renderGraph,
}
