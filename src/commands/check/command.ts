import { tool } from '../../call/tool.ts'
import type { ToolableCommand } from '../command.ts'
import type { CheckInput } from './check.ts'

/** What `toolable check` asks of a program that nobody said a number for. */
const GOOD_ENOUGH = 80
const LONGEST_RUN = 10

/** `toolable check <executable|folder>...`: how agent-ready is it? */
export const checkCommand: ToolableCommand = {
  path: ['check'],
  tool: tool({
    name: 'check',
    summary: 'Check how ready a program is for agents, and how to mend it',
    description:
      'Runs the program itself, in a sandbox where the machine has one: discovery, help, and inputs that are wrong on purpose, which no tool should run with. A tool is called with a good input only if it says that it is read-only, or with --call. Of a folder every program is checked. Exits 1 below --min.',
    input: {
      type: 'object',
      properties: {
        path: {
          type: 'array',
          items: { type: 'string' },
          minItems: 1,
          description: 'A program, a script, or a folder of them',
        },
        min: {
          type: 'integer',
          minimum: 0,
          maximum: 100,
          default: GOOD_ENOUGH,
          description: 'Percent that are enough',
        },
        runSeconds: {
          type: 'number',
          exclusiveMinimum: 0,
          maximum: 600,
          default: LONGEST_RUN,
          description: 'Seconds that each run of the program may take',
        },
        call: {
          type: 'boolean',
          description: 'Tools may be called with the inputs of their own examples',
        },
      },
      required: ['path'],
      additionalProperties: false,
    },
    positional: ['path'],
    annotations: { readOnly: true },
    examples: [
      { description: 'One program', args: ['./weather.py'] },
      { description: 'In CI, with no excuse', args: ['tools', '--min', '100'] },
    ],
    run: async (input, ctx) => (await import('./check.ts')).checkPaths(input as CheckInput, ctx),
  }),
  text: async () => (await import('./check-text.ts')).renderCheck,
  exit: (result) => ((result as { readonly enough: boolean }).enough ? 0 : 1),
}
