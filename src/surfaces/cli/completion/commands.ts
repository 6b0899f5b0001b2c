import { tool } from '../../../call/tool.ts'
import type { BuiltinModule } from '../../builtin/builtin.ts'
import { SHELLS } from '../builtin-commands.ts'
import { printText } from '../print-document.ts'
import type { Shell } from './completion-script.ts'

/** `completion <shell>`: the script itself, to be sourced. */
export const completionCommands: BuiltinModule = () => [
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
      const { completionScript } = await import('./completion-script.ts')
      return printText(io, completionScript((input as { readonly shell: Shell }).shell, set.name))
    },
  },
]
