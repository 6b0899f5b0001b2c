import { tool } from '../core/tool.ts'
import { SHELLS } from './builtin-names.ts'
import type { ShellName } from './completion-scripts.ts'
import { printText } from './documents.ts'
import type { BuiltinFactory } from './types.ts'

/** `completion <shell>`: the script itself, to be sourced. */
export const completionCommands: BuiltinFactory = () => [
  {
    path: ['completion'],
    tool: tool({
      name: 'completion',
      summary: 'Print a completion script for a shell',
      description: 'The script asks the program itself, so it never goes stale.',
      input: {
        type: 'object',
        properties: {
          shell: { type: 'string', enum: SHELLS, description: 'The shell to complete in' },
        },
        required: ['shell'],
        additionalProperties: false,
      },
      positional: ['shell'],
      annotations: { readOnly: true, idempotent: true },
      examples: [{ description: 'In a bash that runs', args: ['bash'] }],
    }),
    async start(input, { set, io }) {
      const { writeCompletionScript } = await import('./completion-scripts.ts')
      return printText(
        io,
        writeCompletionScript((input as { readonly shell: ShellName }).shell, set.name),
      )
    },
  },
]
