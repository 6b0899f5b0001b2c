import { tool } from '../../call/tool.ts'
import type { ToolableCommand } from '../command.ts'
import { inputWith } from '../common-flags.ts'

/** `toolable ui`: the dashboard. */
export const uiCommand: ToolableCommand = {
  path: ['ui'],
  tool: tool({
    name: 'ui',
    summary: 'Show runs, questions, tools and workflows in a browser',
    description:
      'Serves the dashboard of this project to browsers on this machine, and prints its address with the token that lets a browser in. Whoever has it can start tools, unless --read-only is given. Runs until it gets SIGINT or SIGTERM, and exits 0; the runs that it has started go on.',
    input: inputWith({
      port: {
        type: 'integer',
        minimum: 0,
        maximum: 65_535,
        default: 4400,
        description: 'The port on 127.0.0.1; 0 takes a free one',
      },
      readOnly: {
        type: 'boolean',
        description: 'Refuse everything that would start, answer, cancel or remove something',
      },
      open: { type: 'boolean', description: 'Open it in the browser of this machine' },
      tokenFile: {
        type: 'string',
        description:
          'A file with the token, which only you may be able to read; default: one is made and kept in .runs',
      },
    }),
    examples: [
      { description: 'Look at the runs of this project', args: ['--open'] },
      { description: 'On any free port, for looking only', args: ['--port', '0', '--read-only'] },
    ],
  }),
  start: async (given, context) => (await import('./serve-ui.ts')).serveUi(given as never, context),
}
