/**
 * Definitions: init, check, doctor, build, ui, serve mcp|http, worker.
 */

import type { BuildOptions } from '../../bundler/build-program.ts'
import { createMcpServingProperties, HTTP_PROPERTIES } from '../../http/serving-flags.ts'
import { compact } from '../../util/values.ts'
import type { ToolableCommand } from '../command.ts'
import { defineCommand, TEXTS_SCHEMA } from '../command.ts'
import type { RegistryFlags } from '../config.ts'
import { splitRegistryFlags, withRegistry } from '../config.ts'

/** The name of a tool that is a folder, a function and a word on the command line. */
const TOOL_NAME_PATTERN = '^[a-z][a-z0-9_]{0,49}$'

// Exits 1 where the result says that it is not enough.
const toStatus = (result: unknown): number =>
  (result as { readonly enough: boolean }).enough ? 0 : 1

/** `toolable init [folder]`: a project that runs its first tool. */
export const initCommand = defineCommand({
  path: ['init'],
  summary: 'Begin a project of tools, or add a tool to one',
  description:
    'Writes ./tool, which runs the tools of the project, toolable.yaml, a first tool and its manifest; for Python and shell also the helper that makes it a full tool. A file that is there already and differs is never touched: nothing is written then, and the files are named.',
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
      pattern: TOOL_NAME_PATTERN,
      default: 'hello',
      description: 'What the first tool is called',
    },
    agent: {
      type: 'array',
      items: { type: 'string', enum: ['claude'] },
      description: 'Also write a command and an agent that work with these tools',
    },
  },
  positional: ['folder'],
  annotations: { idempotent: true },
  dryRun: true,
  examples: [
    { description: 'A first tool in Python, here', args: ['--language', 'python'] },
    { description: 'One more tool, in shell', args: ['--language', 'sh', '--name', 'count_lines'] },
  ],
  run: async (input, ctx) => (await import('../init.ts')).initProject(input, ctx),
  text: async () => (await import('../init.ts')).renderInit,
})

/** The defaults of `toolable check`. */
const DEFAULT_MIN_PERCENT = 80
const DEFAULT_RUN_SECONDS = 10

/** `toolable check <executable|folder>...`: how agent-ready is it? */
export const checkCommand = defineCommand({
  path: ['check'],
  summary: 'Check how ready a program is for agents, and how to mend it',
  description:
    'Runs the program itself, in a sandbox where the machine has one: discovery, help, and inputs that are wrong on purpose, which no tool should run with. A tool is called with a good input only if it says that it is read-only, or with --call. Of a folder every program is checked. Exits 1 below --min.',
  properties: {
    path: { ...TEXTS_SCHEMA, minItems: 1, description: 'A program, a script, or a folder of them' },
    min: {
      type: 'integer',
      minimum: 0,
      maximum: 100,
      default: DEFAULT_MIN_PERCENT,
      description: 'Percent that are enough',
    },
    runSeconds: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 600,
      default: DEFAULT_RUN_SECONDS,
      description: 'Seconds that each run of the program may take',
    },
    call: {
      type: 'boolean',
      description: 'Tools may be called with the inputs of their own examples',
    },
  },
  required: ['path'],
  positional: ['path'],
  annotations: { readOnly: true },
  examples: [
    { description: 'One program', args: ['./weather.py'] },
    { description: 'In CI, with no excuse', args: ['tools', '--min', '100'] },
  ],
  run: async (input, ctx) => (await import('../check/check.ts')).checkPaths(input, ctx),
  text: async () => (await import('../check/check.ts')).renderCheck,
  exit: toStatus,
})

/** `toolable doctor`: what can this machine enforce? */
export const doctorCommand = defineCommand({
  path: ['doctor'],
  summary: 'Say what this machine can enforce on tools, and what stands in the way of runs',
  description:
    'Tries everything instead of believing it: a sandbox from which a program tries to get out, a granted server, the folder of the runs, clock, space, configuration and policies. What is missing comes with a fix to paste. Exits 1 where something is broken, or --level is not reached.',
  properties: {
    level: {
      type: 'string',
      enum: ['L1', 'L2', 'L3'],
      description: 'The level that has to be reached',
    },
  },
  annotations: { readOnly: true },
  examples: [
    { description: 'What can be enforced here?', args: [] },
    { description: 'In CI, where tools must be sandboxed', args: ['--level', 'L3'] },
  ],
  run: async (input, ctx) => (await import('../doctor.ts')).diagnose(input, ctx),
  text: async () => (await import('../doctor.ts')).renderDiagnosis,
  exit: toStatus,
})

/** `toolable build <entry>`: a program of one's tools that starts almost as fast as node itself. */
export const buildCommand = defineCommand({
  path: ['build'],
  summary: 'Build a program from its entry file',
  description:
    'Bundles a program with everything it imports, and writes down what can be known about it: a shell answers --help, --discover and --manifest from the file itself, and only a call starts node. The entry runs a toolset, or exports a toolset or tools. It is loaded to be looked at; its tools are not called.',
  properties: {
    entry: { type: 'string', description: 'The file of the program: JavaScript or TypeScript' },
    out: { type: 'string', default: 'dist', description: 'The folder that it is written to' },
    name: {
      type: 'string',
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
      description: 'What its file is called; default: the name of the toolset',
    },
    external: {
      ...TEXTS_SCHEMA,
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
  positional: ['entry'],
  annotations: { idempotent: true },
  examples: [
    { description: 'The program of src/cli.ts as dist/<name>', args: ['src/cli.ts'] },
    { description: 'For the bin of an npm package', args: ['src/cli.ts', '--portable'] },
  ],
  run: async ({ entry, out, name, external, portable, single }: BuildOptions, ctx) =>
    (await import('../../bundler/build-program.ts')).buildProgram(
      compact({ entry, out, name, external, portable: portable === true, single: single === true }),
      { cwd: ctx.cwd, env: ctx.env, signal: ctx.signal },
    ),
  text: async () => (await import('../../bundler/build-program.ts')).renderBuild,
})

/** `toolable ui`: the dashboard. */
export const uiCommand = defineCommand({
  path: ['ui'],
  summary: 'Show runs, questions, tools and workflows in a browser',
  description:
    'Serves the dashboard of this project to browsers on this machine, and prints its address with the token that lets a browser in. Whoever has it can start tools, unless --read-only is given. Runs until it gets SIGINT or SIGTERM, and exits 0; the runs that it has started go on.',
  properties: {
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
  },
  flags: 'registry',
  examples: [
    { description: 'Look at the runs of this project', args: ['--open'] },
    { description: 'On any free port, for looking only', args: ['--port', '0', '--read-only'] },
  ],
  start: async (given, context) => (await import('../ui/serve-ui.ts')).serveUi(given, context),
})

/** `toolable serve mcp`: the whole registry over MCP. */
export const serveMcpCommand = defineCommand({
  path: ['serve', 'mcp'],
  summary: 'Serve all tools over MCP',
  description:
    'Every tool of the registry behind one MCP endpoint. With stdio the client is on stdin and stdout, and the server ends with it. With http the endpoint is /mcp; beyond loopback a token is needed. --timeout limits every call.',
  properties: createMcpServingProperties(),
  flags: 'registry',
  examples: [
    { description: 'For a client that starts the program', args: ['--transport', 'stdio'] },
    { description: 'For clients on this machine', args: ['--transport', 'http', '--port', '8080'] },
  ],
  start: createServeStart('mcp', 'serve'),
})

/** `toolable serve http`: the whole registry over HTTP. */
export const serveHttpCommand = defineCommand({
  path: ['serve', 'http'],
  summary: 'Serve all tools over HTTP',
  description:
    'POST /tools/<name> calls a tool; GET / shows what is there, GET /openapi.json describes it, and /mcp speaks MCP. --timeout limits every call. Runs until it gets SIGINT or SIGTERM, lets running calls end, and exits 0.',
  properties: HTTP_PROPERTIES,
  flags: 'registry',
  examples: [
    { description: 'On this machine only', args: ['--port', '8080'] },
    {
      description: 'For other machines, with a token',
      args: ['--host', '0.0.0.0', '--token-file', 'token.txt'],
    },
  ],
  start: createServeStart('serve', 'http'),
})

// Every program has a command that serves it; this one serves the registry.
function createServeStart(word: string, sub: string): NonNullable<ToolableCommand['start']> {
  return async (given, context) => {
    const [flags, input] = splitRegistryFlags(given as RegistryFlags)
    const { loadBuiltins } = await import('../../cli/builtins.ts')
    return withRegistry(flags, context.io, async (registry) => {
      await registry.prepare?.()
      const builtins = await loadBuiltins(word, registry, context.host, sub)
      const own = builtins.find(({ path }) => path[1] === sub)
      return own?.start?.(input, { ...context, set: registry })
    })
  }
}

/** `toolable worker`: executes workflows for a Restate server. */
export const workerCommand = defineCommand({
  path: ['worker'],
  summary: 'Execute workflows for a Restate server',
  description:
    'Listens for a Restate server, tells it so, and executes the workflows that toolable workflow run --engine restate hands to it, with the tools of this registry. Any number of workers may stand behind one address: what one of them leaves undone, another one does. Needs the package @restatedev/restate-sdk. Runs until it gets SIGINT or SIGTERM, gives running steps some seconds to end, leaves the others to other workers, and exits 0.',
  properties: {
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
  },
  flags: 'registry',
  examples: [
    { description: 'Beside a server on this machine', args: [] },
    {
      description: 'For a server elsewhere',
      args: '--listen 0.0.0.0:9080 --advertise http://worker-1:9080 --admin http://restate:9070 --token-file token.txt'.split(
        ' ',
      ),
    },
  ],
  start: async (given, context) => (await import('../worker.ts')).runWorker(given, context),
})
