import { tool } from '../../call/tool.ts'
import type { BuildOptions } from '../../build/build-program.ts'
import type { ToolableCommand } from '../command.ts'

/** `toolable build <entry>`: a program of one's tools that starts almost as fast as node itself. */
export const buildCommand: ToolableCommand = {
  path: ['build'],
  tool: tool({
    name: 'build',
    summary: 'Build a program from its entry file',
    description:
      'Bundles a program with everything it imports, and writes down what can be known about it: a shell answers --help, --discover and --manifest from the file itself, and only a call starts node. The entry runs a toolset, or exports a toolset or tools. It is loaded to be looked at; its tools are not called.',
    input: {
      type: 'object',
      properties: {
        entry: { type: 'string', description: 'The file of the program: JavaScript or TypeScript' },
        out: { type: 'string', default: 'dist', description: 'The folder that it is written to' },
        name: {
          type: 'string',
          pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
          description: 'What its file is called; default: the name of the toolset',
        },
        external: {
          type: 'array',
          items: { type: 'string' },
          description:
            'A package that stays outside of the bundle and is looked for when the program runs',
        },
        single: {
          type: 'boolean',
          default: false,
          description: 'One executable with node in it, of about 100 MB, that needs nothing else',
        },
        portable: {
          type: 'boolean',
          default: false,
          description:
            'Start node at once: for the bin of an npm package, which Windows has to start too',
        },
      },
      required: ['entry'],
      additionalProperties: false,
    },
    positional: ['entry'],
    annotations: { idempotent: true },
    examples: [
      { description: 'The program of src/cli.ts as dist/<name>', args: ['src/cli.ts'] },
      { description: 'For the bin of an npm package', args: ['src/cli.ts', '--portable'] },
    ],
    run: async (input, ctx) => {
      const { entry, out, name, external, portable, single } = input as BuildOptions
      const { buildProgram } = await import('../../build/build-program.ts')
      return buildProgram(
        {
          entry,
          ...(out !== undefined && { out }),
          ...(name !== undefined && { name }),
          ...(external && { external }),
          portable: portable === true,
          single: single === true,
        },
        { cwd: ctx.cwd, env: ctx.env, signal: ctx.signal },
      )
    },
  }),
  text: async () => (await import('./build-text.ts')).renderBuild,
}
