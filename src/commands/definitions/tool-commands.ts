/**
 * Definitions: list, describe, schema, call, run, rescan, read-help. RUN_PROPERTIES is used by
 * other definitions and by implementations; nothing that this file loads with import() may import
 * them back.
 */

import { tool } from '../../core/tool.ts'
import { PROGRESS_PROPERTY, withRegistryProperties } from '../command.ts'
import type { ToolableCommand } from '../command.ts'
import { withRegistry } from '../config.ts'
import type { RegistryFlags } from '../config.ts'
import type { DescribeInput } from '../describe.ts'

/** `toolable list`: what there is. */
export const listCommand: ToolableCommand = {
  path: ['list'],
  tool: tool({
    name: 'list',
    summary: 'List the tools of this project',
    description:
      'The tools that the configuration and the folders bring, under the names to call them by. A tool whose name another one has is shown with --all; it is called by its id, <source>.<tool>. --problems shows every candidate that is not a tool, with the reason and a fix.',
    input: withRegistryProperties({
      tag: {
        type: 'array',
        items: { type: 'string' },
        description: 'Only tools with this tag; * stands for any text',
      },
      source: {
        type: 'array',
        items: { type: 'string' },
        description: 'Only tools and problems of this source; * stands for any text',
      },
      kind: {
        type: 'array',
        items: { type: 'string' },
        description: "Only tools of this kind, such as 'mcp server'",
      },
      problems: { type: 'boolean', description: 'Show what is not a tool, and why' },
      all: { type: 'boolean', description: 'Show also tools whose name means another one' },
    }),
    annotations: { readOnly: true, idempotent: true },
    examples: [
      { description: 'What can I call here?', args: [] },
      { description: 'Why is my script not in the list?', args: ['--problems'] },
    ],
    run: async (input, ctx) => (await import('../list.ts')).listTools(input, ctx),
  }),
  text: async () => (await import('../list-text.ts')).renderList,
}

const TOOL_NAME_SCHEMA = {
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
    input: withRegistryProperties(TOOL_NAME_SCHEMA, ['tool']),
    positional: ['tool'],
    annotations: { readOnly: true, idempotent: true },
    examples: [{ description: 'What does find_files take?', args: ['find_files'] }],
    run: async (input, ctx) =>
      (await import('../describe.ts')).describeTool(input as DescribeInput, ctx),
  }),
  text: async () => (await import('../describe-text.ts')).renderDescription,
}

/** `toolable schema <tool>`: the schemas alone, as a bare document. */
export const schemaCommand: ToolableCommand = {
  path: ['schema'],
  tool: tool({
    name: 'schema',
    summary: 'Print the JSON Schemas of one tool',
    description: 'A bare document {input, output}, ready for a program that reads schemas.',
    input: withRegistryProperties(TOOL_NAME_SCHEMA, ['tool']),
    positional: ['tool'],
    annotations: { readOnly: true, idempotent: true },
    examples: [{ description: 'The input of find_files', args: ['find_files'] }],
  }),
  async start(input, { io }) {
    const [{ withRegistry }, { printDocument }] = await Promise.all([
      import('../config.ts'),
      import('../../cli/documents.ts'),
    ])
    const { tool: name, ...surroundings } = input as DescribeInput
    return printDocument(
      io,
      await withRegistry(surroundings, io, (registry) => registry.schema(name)),
    )
  },
}

/**
 * `toolable call <tool> ...`: everything behind the name belongs to the tool. `runCall` does it;
 * this is what help and completion know.
 */
export const callCommand: ToolableCommand = {
  path: ['call'],
  tool: tool({
    name: 'call',
    summary: 'Call a tool',
    description:
      'Everything behind the name of the tool belongs to the tool: its flags, one JSON object, - for stdin, @file.json, --help, --stream, --dry-run, --yes, --output. The flags below stand before the name. --help behind the name shows what the tool takes.',
    input: withRegistryProperties(
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

/** The flags of `run` and `resume`. */
export const RUN_PROPERTIES = {
  detach: {
    type: 'boolean',
    description: 'Give the id of the run at once; a process of its own goes on with it',
  },
  retries: {
    type: 'integer',
    minimum: 0,
    maximum: 10,
    description: 'How often a failure that may pass is tried again; default 3',
  },
  heartbeatGrace: {
    type: 'number',
    exclusiveMinimum: 0,
    description:
      'Seconds of silence after which a tool that speaks the protocol is ended; default 90, or HEARTBEAT_GRACE_S',
  },
  allowLevel: {
    type: 'string',
    enum: ['L1', 'L2', 'L3'],
    description: 'Run at this level where the machine cannot hold the tool better; default: refuse',
  },
  answer: {
    type: 'array',
    items: { type: 'string' },
    description: 'An answer before the tool asks: key=value, the key, id or action of the question',
  },
  wait: {
    type: 'boolean',
    description: 'Wait for toolable answer from elsewhere also where nobody here can answer',
  },
  progress: PROGRESS_PROPERTY,
} as const

/**
 * `toolable run <tool> ...`: everything behind the name belongs to the tool. `runRun` does it; this
 * is what help and completion know.
 */
export const runCommand: ToolableCommand = {
  path: ['run'],
  tool: tool({
    name: 'run',
    summary: 'Run a tool, supervised and on record',
    description:
      'Flags of the runner stand before the name of the tool; everything behind it belongs to the tool, --help too. The run has a folder of its own with its log, workspace and artifacts; deadline, heartbeats, limits and permissions are enforced; its events come as JSON lines, or as words for a person. The exit status is that of the tool; 124 is a deadline or a missed heartbeat, 130 a cancelled run. --timeout sets the deadline, --secret-file name=path gives a secret.',
    input: withRegistryProperties(
      {
        tool: { type: 'string', description: 'The name of the tool, or its id: <source>.<tool>' },
        arguments: {
          type: 'array',
          items: { type: 'string' },
          description: 'What is for the tool',
        },
        ...RUN_PROPERTIES,
        selftest: {
          type: 'boolean',
          description: 'Run the self-test that the manifest names, instead of the tool',
        },
      },
      ['tool'],
    ),
    positional: ['tool', 'arguments'],
    examples: [
      {
        description: 'In the foreground',
        args: ['--timeout', '10m', 'example_processor', 'data.json'],
      },
      { description: 'In the background', args: ['--detach', 'data_migrator'] },
    ],
  }),
}

/** `toolable rescan`: look again. */
export const rescanCommand: ToolableCommand = {
  path: ['rescan'],
  tool: tool({
    name: 'rescan',
    summary: 'Look again at everything that may hold tools',
    description:
      'What changed is asked again by itself at every start; --fresh asks everything, also what the cache knows.',
    input: withRegistryProperties({
      fresh: { type: 'boolean', description: 'Ask also what has not changed' },
    }),
    annotations: { idempotent: true },
    examples: [{ description: 'After an interpreter or a library was changed', args: ['--fresh'] }],
    run: async (input, ctx) => {
      const { fresh = false, ...surroundings } = input as RegistryFlags & {
        readonly fresh?: boolean
      }
      return withRegistry(surroundings, ctx, async (registry) => {
        await registry.rescan({ fresh })
        return {
          sources: registry.sources(),
          tools: registry.list().length,
          problems: registry.problems().length,
        }
      })
    },
  }),
}

/**
 * `toolable read-help <program> [command...]` and `--text <file|->`: what was understood of a help
 * text, as a bare document.
 */
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
    (await import('../read-help.ts')).printHelpDocument(input as never, io, host.signal),
}
