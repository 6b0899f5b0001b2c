import { tool } from '../call/tool.ts'
import type { ToolableCommand } from './command.ts'

/** `toolable read-help <program> [command...]` and `--text <file|->`: what was understood of a help text, as a bare document. */
export const readHelpCommand: ToolableCommand = {
  path: ['read-help'],
  tool: tool({
    name: 'read_help',
    summary: 'Show what is understood of the help of a program',
    description:
      'Asks the program for its help, in a sandbox, or reads a text, and prints usage, options, positionals and commands as JSON. What stands here is what a registry makes a tool of.',
    input: {
      type: 'object',
      properties: {
        program: {
          type: 'array',
          items: { type: 'string' },
          description: 'The program, and the command of it that is meant',
        },
        text: { type: 'string', description: 'A file with the help text instead; - is stdin' },
        probeUnsandboxed: {
          type: 'boolean',
          description: 'Ask the program even where no sandbox can hold it',
        },
      },
      additionalProperties: false,
    },
    positional: ['program'],
    annotations: { readOnly: true, idempotent: true },
    examples: [
      { description: 'A command of a program', args: ['git', 'remote'] },
      { description: 'A text that somebody saved', args: ['--text', 'help.txt'] },
    ],
  }),
  start: async (input, { io, host }) =>
    (await import('./help/print-help-document.ts')).printHelpDocument(
      input as never,
      io,
      host.signal,
    ),
}
