/**
 * Definitions: ui, serve mcp|http, worker.
 */

import { tool } from '../../core/tool.ts'
import { createMcpServingProperties, HTTP_PROPERTIES } from '../../http/serving-flags.ts'
import { withRegistryProperties } from '../command.ts'
import type { ToolableCommand } from '../command.ts'
import type { RegistryFlags } from '../config.ts'

/** `toolable ui`: the dashboard. */
export const uiCommand: ToolableCommand = {
  path: ['ui'],
  tool: tool({
    name: 'ui',
    summary: 'Show runs, questions, tools and workflows in a browser',
    description:
      'Serves the dashboard of this project to browsers on this machine, and prints its address with the token that lets a browser in. Whoever has it can start tools, unless --read-only is given. Runs until it gets SIGINT or SIGTERM, and exits 0; the runs that it has started go on.',
    input: withRegistryProperties({
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
  start: async (given, context) =>
    (await import('../ui/serve-ui.ts')).serveUi(given as never, context),
}

/** `toolable serve mcp|http`: the whole registry behind one door. */
export const serveCommands: readonly ToolableCommand[] = [
  {
    path: ['serve', 'mcp'],
    tool: tool({
      name: 'serve_mcp',
      summary: 'Serve all tools over MCP',
      description:
        'Every tool of the registry behind one MCP endpoint. With stdio the client is on stdin and stdout, and the server ends with it. With http the endpoint is /mcp; beyond loopback a token is needed. --timeout limits every call.',
      input: withRegistryProperties(createMcpServingProperties()),
      examples: [
        { description: 'For a client that starts the program', args: ['--transport', 'stdio'] },
        {
          description: 'For clients on this machine',
          args: ['--transport', 'http', '--port', '8080'],
        },
      ],
    }),
    start: createServeStart('mcp', 'serve'),
  },
  {
    path: ['serve', 'http'],
    tool: tool({
      name: 'serve_http',
      summary: 'Serve all tools over HTTP',
      description:
        'POST /tools/<name> calls a tool; GET / shows what is there, GET /openapi.json describes it, and /mcp speaks MCP. --timeout limits every call. Runs until it gets SIGINT or SIGTERM, lets running calls end, and exits 0.',
      input: withRegistryProperties(HTTP_PROPERTIES),
      examples: [
        { description: 'On this machine only', args: ['--port', '8080'] },
        {
          description: 'For other machines, with a token',
          args: ['--host', '0.0.0.0', '--token-file', 'token.txt'],
        },
      ],
    }),
    start: createServeStart('serve', 'http'),
  },
]

// By the command that every program has for it.
function createServeStart(
  ...path: readonly [word: string, sub: string]
): NonNullable<ToolableCommand['start']> {
  return async (given, context) => {
    const { config, folder, strict, probeUnsandboxed, cache, ...input } = given as RegistryFlags & {
      readonly [field: string]: unknown
    }
    const surroundings = Object.fromEntries(
      Object.entries({ config, folder, strict, probeUnsandboxed, cache }).filter(
        ([, value]) => value !== undefined,
      ),
    ) as RegistryFlags
    const [{ withRegistry }, { loadBuiltins }] = await Promise.all([
      import('../config.ts'),
      import('../../cli/builtins.ts'),
    ])
    return withRegistry(surroundings, context.io, async (registry) => {
      await registry.prepare?.()
      const own = (await loadBuiltins(path[0], registry, context.host, path[1])).find(
        (builtin) => builtin.path[1] === path[1],
      )
      return own?.start?.(input, { ...context, set: registry })
    })
  }
}

/** `toolable worker`: executes workflows for a Restate server. */
export const workerCommand: ToolableCommand = {
  path: ['worker'],
  tool: tool({
    name: 'worker',
    summary: 'Execute workflows for a Restate server',
    description:
      'Listens for a Restate server, tells it so, and executes the workflows that toolable workflow run --engine restate hands to it, with the tools of this registry. Any number of workers may stand behind one address: what one of them leaves undone, another one does. Needs the package @restatedev/restate-sdk. Runs until it gets SIGINT or SIGTERM, gives running steps some seconds to end, leaves the others to other workers, and exits 0.',
    input: withRegistryProperties({
      listen: {
        type: 'string',
        default: '127.0.0.1:9080',
        description:
          'The address to bind, host:port; port 0 takes a free one. Beyond loopback a token is needed',
      },
      admin: {
        type: 'string',
        default: 'http://127.0.0.1:9070',
        description: 'The admin address of the Restate server',
      },
      advertise: {
        type: 'string',
        description:
          'The address by which the server reaches this worker, or the balancer before all of them; default: the one that it binds',
      },
      tokenFile: {
        type: 'string',
        description:
          'A file with the bearer token that requests have to carry; the server is told it. Only you may be able to read it',
      },
      grace: {
        type: 'number',
        minimum: 0,
        maximum: 3600,
        default: 10,
        description: 'Seconds that running steps get to end when the worker stops',
      },
    }),
    examples: [
      { description: 'Beside a server on this machine', args: [] },
      {
        description: 'For a server elsewhere',
        args: [
          '--listen',
          '0.0.0.0:9080',
          '--advertise',
          'http://worker-1:9080',
          '--admin',
          'http://restate:9070',
          '--token-file',
          'token.txt',
        ],
      },
    ],
  }),
  start: async (given, context) =>
    (await import('../worker.ts')).runWorker(given as never, context),
}
