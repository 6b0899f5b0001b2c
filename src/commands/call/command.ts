import { tool } from '../../call/tool.ts'
import type { ToolableCommand } from '../command.ts'
import { inputWith } from '../common-flags.ts'

/** `toolable call <tool> ...`: everything behind the name belongs to the tool. `runCall` does it; this is what help and completion know. */
export const callCommand: ToolableCommand = {
  path: ['call'],
  tool: tool({
    name: 'call',
    summary: 'Call a tool',
    description:
      'Everything behind the name of the tool belongs to the tool: its flags, one JSON object, - for stdin, @file.json, --help, --stream, --dry-run, --yes, --output. The flags below stand before the name. --help behind the name shows what the tool takes.',
    input: inputWith(
      {
        tool: { type: 'string', description: 'The name of the tool, or its id: <source>.<tool>' },
        arguments: {
          type: 'array',
          items: { type: 'string' },
          description: 'What is for the tool',
        },
      },
      ['tool'],
    ),
    positional: ['tool', 'arguments'],
    examples: [
      { description: 'By position', args: ['find_files', '*.ts'] },
      { description: 'By JSON', args: ['tools.weather', '{"lat": 48.85}'] },
    ],
  }),
}
