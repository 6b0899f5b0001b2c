import { tool } from '../../call/tool.ts'
import type { ToolableCommand } from '../command.ts'
import type { InitInput } from './init.ts'

/** The name of a tool that is a folder, a function and a word on the command line. */
const NAME = '^[a-z][a-z0-9_]{0,49}$'

/** `toolable init [folder]`: a project that runs its first tool. */
export const initCommand: ToolableCommand = {
  path: ['init'],
  tool: tool({
    name: 'init',
    summary: 'Begin a project of tools, or add a tool to one',
    description:
      'Writes ./tool, which runs the tools of the project, toolable.yaml, a first tool and its manifest; for Python and shell also the helper that makes it a full tool. A file that is there already and differs is never touched: nothing is written then, and the files are named.',
    input: {
      type: 'object',
      properties: {
        folder: {
          type: 'string',
          default: '.',
          description: 'Where the project lies; it is made where there is none',
        },
        language: {
          type: 'string',
          enum: ['ts', 'python', 'sh'],
          default: 'ts',
          description: 'What the first tool is written in',
        },
        name: {
          type: 'string',
          pattern: NAME,
          default: 'hello',
          description: 'What the first tool is called',
        },
        agent: {
          type: 'array',
          items: { type: 'string', enum: ['claude'] },
          description: 'Also write a command and an agent that work with these tools',
        },
      },
      additionalProperties: false,
    },
    positional: ['folder'],
    annotations: { idempotent: true },
    dryRun: true,
    examples: [
      { description: 'A first tool in Python, here', args: ['--language', 'python'] },
      {
        description: 'One more tool, in shell',
        args: ['--language', 'sh', '--name', 'count_lines'],
      },
    ],
    run: async (input, ctx) => (await import('./init.ts')).initProject(input as InitInput, ctx),
  }),
  text: async () => (await import('./init-text.ts')).renderInit,
}
