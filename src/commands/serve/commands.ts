import { tool } from '../../call/tool.ts'
import { HTTP_PROPERTIES } from '../../surfaces/http/serve/serving-properties.ts'
import { servingProperties } from '../../surfaces/mcp/serving-properties.ts'
import type { ToolableCommand } from '../command.ts'
import { inputWith } from '../common-flags.ts'
import type { Surroundings } from '../config/load.ts'

/** `toolable serve mcp|http`: the whole registry behind one door. */
export const serveCommands: readonly ToolableCommand[] = [
  {
    path: ['serve', 'mcp'],
    tool: tool({
      name: 'serve_mcp',
      summary: 'Serve all tools over MCP',
      description:
        'Every tool of the registry behind one MCP endpoint. With stdio the client is on stdin and stdout, and the server ends with it. With http the endpoint is /mcp; beyond loopback a token is needed. --timeout limits every call.',
      input: inputWith(servingProperties()),
      examples: [
        { description: 'For a client that starts the program', args: ['--transport', 'stdio'] },
        {
          description: 'For clients on this machine',
          args: ['--transport', 'http', '--port', '8080'],
        },
      ],
    }),
    start: serving('mcp', 'serve'),
  },
  {
    path: ['serve', 'http'],
    tool: tool({
      name: 'serve_http',
      summary: 'Serve all tools over HTTP',
      description:
        'POST /tools/<name> calls a tool; GET / shows what is there, GET /openapi.json describes it, and /mcp speaks MCP. --timeout limits every call. Runs until it gets SIGINT or SIGTERM, lets running calls end, and exits 0.',
      input: inputWith(HTTP_PROPERTIES),
      examples: [
        { description: 'On this machine only', args: ['--port', '8080'] },
        {
          description: 'For other machines, with a token',
          args: ['--host', '0.0.0.0', '--token-file', 'token.txt'],
        },
      ],
    }),
    start: serving('serve', 'http'),
  },
]

// By the command that every program has for it.
function serving(
  ...path: readonly [word: string, sub: string]
): NonNullable<ToolableCommand['start']> {
  return async (given, context) => {
    const { config, folder, strict, probeUnsandboxed, cache, ...input } = given as Surroundings & {
      readonly [field: string]: unknown
    }
    const surroundings = Object.fromEntries(
      Object.entries({ config, folder, strict, probeUnsandboxed, cache }).filter(
        ([, value]) => value !== undefined,
      ),
    ) as Surroundings
    const [{ withRegistry }, { builtinsOf }] = await Promise.all([
      import('../with-registry.ts'),
      import('../../surfaces/builtin/list.ts'),
    ])
    return withRegistry(surroundings, context.io, async (registry) => {
      await registry.prepare?.()
      const own = (await builtinsOf(path[0], registry, context.host, path[1])).find(
        (builtin) => builtin.path[1] === path[1],
      )
      return own?.start?.(input, { ...context, set: registry })
    })
  }
}
