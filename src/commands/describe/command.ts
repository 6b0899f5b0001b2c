import { tool } from '../../call/tool.ts'
import type { ToolableCommand } from '../command.ts'
import { inputWith } from '../common-flags.ts'
import type { DescribeInput } from './describe.ts'

const NAME = {
  tool: { type: 'string', description: 'The name of the tool, or its id: <source>.<tool>' },
} as const

/** `toolable describe <tool>`: everything about one tool. */
export const describeCommand: ToolableCommand = {
  path: ['describe'],
  tool: tool({
    name: 'describe',
    summary: 'Show everything about one tool',
    description:
      'What it does, what it takes and gives, where it comes from. With -o text: its help, as toolable call <tool> --help shows it.',
    input: inputWith(NAME, ['tool']),
    positional: ['tool'],
    annotations: { readOnly: true, idempotent: true },
    examples: [{ description: 'What does find_files take?', args: ['find_files'] }],
    run: async (input, ctx) =>
      (await import('./describe.ts')).describeTool(input as DescribeInput, ctx),
  }),
  text: async () => (await import('./describe-text.ts')).renderDescription,
}

/** `toolable schema <tool>`: the schemas alone, as a bare document. */
export const schemaCommand: ToolableCommand = {
  path: ['schema'],
  tool: tool({
    name: 'schema',
    summary: 'Print the JSON Schemas of one tool',
    description: 'A bare document {input, output}, ready for a program that reads schemas.',
    input: inputWith(NAME, ['tool']),
    positional: ['tool'],
    annotations: { readOnly: true, idempotent: true },
    examples: [{ description: 'The input of find_files', args: ['find_files'] }],
  }),
  async start(input, { io }) {
    const [{ withRegistry }, { printDocument }] = await Promise.all([
      import('../with-registry.ts'),
      import('../../surfaces/cli/print-document.ts'),
    ])
    const { tool: name, ...surroundings } = input as DescribeInput
    return printDocument(
      io,
      await withRegistry(surroundings, io, (registry) => registry.schema(name)),
    )
  },
}
