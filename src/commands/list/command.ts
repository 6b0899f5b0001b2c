import { tool } from '../../call/tool.ts'
import type { ToolableCommand } from '../command.ts'
import { inputWith } from '../common-flags.ts'

/** `toolable list`: what there is. */
export const listCommand: ToolableCommand = {
  path: ['list'],
  tool: tool({
    name: 'list',
    summary: 'List the tools of this project',
    description:
      'The tools that the configuration and the folders bring, under the names to call them by. A tool whose name another one has is shown with --all; it is called by its id, <source>.<tool>. --problems shows every candidate that is not a tool, with the reason and a fix.',
    input: inputWith({
      tag: {
        type: 'array',
        items: { type: 'string' },
        description: 'Only tools with this tag; * stands for any text',
      },
      source: {
        type: 'array',
        items: { type: 'string' },
        description: 'Only tools and problems of this source; * stands for any text',
      },
      kind: {
        type: 'array',
        items: { type: 'string' },
        description: "Only tools of this kind, such as 'mcp server'",
      },
      problems: { type: 'boolean', description: 'Show what is not a tool, and why' },
      all: { type: 'boolean', description: 'Show also tools whose name means another one' },
    }),
    annotations: { readOnly: true, idempotent: true },
    examples: [
      { description: 'What can I call here?', args: [] },
      { description: 'Why is my script not in the list?', args: ['--problems'] },
    ],
    run: async (input, ctx) => (await import('./list.ts')).listTools(input, ctx),
  }),
  text: async () => (await import('./list-text.ts')).renderList,
}
