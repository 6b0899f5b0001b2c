/**
 * Definitions: list, describe, schema, call, run, rescan, read-help.
 */

import { defineCommand, RUN_PROPERTIES, TEXTS_SCHEMA } from '../command.ts'
import type { RegistryFlags } from '../config.ts'
import { withRegistry } from '../config.ts'

/** `toolable list`: what there is. */
export const listCommand = defineCommand({
  path: ['list'],
  summary: 'List the tools of this project',
  description:
    'The tools that the configuration and the folders bring, under the names to call them by. A tool whose name another one has is shown with --all; it is called by its id, <source>.<tool>. --problems shows every candidate that is not a tool, with the reason and a fix.',
  properties: {
    tag: { ...TEXTS_SCHEMA, description: 'Only tools with this tag; * stands for any text' },
    source: {
      ...TEXTS_SCHEMA,
      description: 'Only tools and problems of this source; * stands for any text',
    },
    kind: { ...TEXTS_SCHEMA, description: "Only tools of this kind, such as 'mcp server'" },
    problems: { type: 'boolean', description: 'Show what is not a tool, and why' },
    all: { type: 'boolean', description: 'Show also tools whose name means another one' },
  },
  flags: 'registry',
  annotations: { readOnly: true, idempotent: true },
  examples: [
    { description: 'What can I call here?', args: [] },
    { description: 'Why is my script not in the list?', args: ['--problems'] },
  ],
  run: async (input, ctx) => (await import('../list.ts')).listTools(input, ctx),
  text: async () => (await import('../list-text.ts')).renderList,
})

const TOOL_SCHEMA = {
  type: 'string',
  description: 'The name of the tool, or its id: <source>.<tool>',
} as const
const ARGUMENTS_SCHEMA = { ...TEXTS_SCHEMA, description: 'What is for the tool' } as const

/** `toolable describe <tool>`: everything about one tool. */
export const describeCommand = defineCommand({
  path: ['describe'],
  summary: 'Show everything about one tool',
  description:
    'What it does, what it takes and gives, where it comes from. With -o text: its help, as toolable call <tool> --help shows it.',
  properties: { tool: TOOL_SCHEMA },
  required: ['tool'],
  flags: 'registry',
  positional: ['tool'],
  annotations: { readOnly: true, idempotent: true },
  examples: [{ description: 'What does find_files take?', args: ['find_files'] }],
  run: async (input, ctx) => (await import('../describe.ts')).describeTool(input, ctx),
  text: async () => (await import('../describe.ts')).loadDescriptionRenderer(),
  completes: 'tool',
})

/** `toolable schema <tool>`: the schemas alone, as a bare document. */
export const schemaCommand = defineCommand({
  path: ['schema'],
  summary: 'Print the JSON Schemas of one tool',
  description: 'A bare document {input, output}, ready for a program that reads schemas.',
  properties: { tool: TOOL_SCHEMA },
  required: ['tool'],
  flags: 'registry',
  positional: ['tool'],
  annotations: { readOnly: true, idempotent: true },
  examples: [{ description: 'The input of find_files', args: ['find_files'] }],
  start: async (input, context) => (await import('../describe.ts')).printSchemas(input, context),
  completes: 'tool',
})

/** `toolable call <tool> ...`: everything after the name belongs to the tool. */
export const callCommand = defineCommand({
  path: ['call'],
  summary: 'Call a tool',
  description:
    'Everything behind the name of the tool belongs to the tool: its flags, one JSON object, - for stdin, @file.json, --help, --stream, --dry-run, --yes, --output. The flags below stand before the name. --help behind the name shows what the tool takes.',
  properties: { tool: TOOL_SCHEMA, arguments: ARGUMENTS_SCHEMA },
  required: ['tool'],
  flags: 'registry',
  positional: ['tool', 'arguments'],
  examples: [
    { description: 'By position', args: ['find_files', '*.ts'] },
    { description: 'By JSON', args: ['tools.weather', '{"lat": 48.85}'] },
  ],
  runRaw: async (command, context) => (await import('../call.ts')).runCall(command, context),
  completes: 'tool',
})

/** `toolable run <tool> ...`: everything after the name belongs to the tool. */
export const runCommand = defineCommand({
  path: ['run'],
  summary: 'Run a tool, supervised and on record',
  description:
    'Flags of the runner stand before the name of the tool; everything behind it belongs to the tool, --help too. The run has a folder of its own with its log, workspace and artifacts; deadline, heartbeats, limits and permissions are enforced; its events come as JSON lines, or as words for a person. The exit status is that of the tool; 124 is a deadline or a missed heartbeat, 130 a cancelled run. --timeout sets the deadline, --secret-file name=path gives a secret.',
  properties: {
    tool: TOOL_SCHEMA,
    arguments: ARGUMENTS_SCHEMA,
    ...RUN_PROPERTIES,
    selftest: {
      type: 'boolean',
      description: 'Run the self-test that the manifest names, instead of the tool',
    },
  },
  required: ['tool'],
  flags: 'registry',
  positional: ['tool', 'arguments'],
  examples: [
    {
      description: 'In the foreground',
      args: ['--timeout', '10m', 'example_processor', 'data.json'],
    },
    { description: 'In the background', args: ['--detach', 'data_migrator'] },
  ],
  runRaw: async (command, context) => (await import('../run/run.ts')).runRun(command, context),
  completes: 'tool',
})

/** `toolable rescan`: look again. */
export const rescanCommand = defineCommand({
  path: ['rescan'],
  summary: 'Look again at everything that may hold tools',
  description:
    'What changed is asked again by itself at every start; --fresh asks everything, also what the cache knows.',
  properties: { fresh: { type: 'boolean', description: 'Ask also what has not changed' } },
  flags: 'registry',
  annotations: { idempotent: true },
  examples: [{ description: 'After an interpreter or a library was changed', args: ['--fresh'] }],
  run: async ({ fresh = false, ...flags }: RegistryFlags & { readonly fresh?: boolean }, ctx) =>
    withRegistry(flags, ctx, async (registry) => {
      await registry.rescan({ fresh })
      return {
        sources: registry.sources(),
        tools: registry.list().length,
        problems: registry.problems().length,
      }
    }),
})

/**
 * `toolable read-help <program> [command...]` and `--text <file|->`: what was understood of a help
 * text, as a bare document.
 */
export const readHelpCommand = defineCommand({
  path: ['read-help'],
  summary: 'Show what is understood of the help of a program',
  description:
    'Asks the program for its help, in a sandbox, or reads a text, and prints usage, options, positionals and commands as JSON. What stands here is what a registry makes a tool of.',
  properties: {
    program: { ...TEXTS_SCHEMA, description: 'The program, and the command of it that is meant' },
    text: { type: 'string', description: 'A file with the help text instead; - is stdin' },
    probeUnsandboxed: {
      type: 'boolean',
      description: 'Ask the program even where no sandbox can hold it',
    },
  },
  positional: ['program'],
  annotations: { readOnly: true, idempotent: true },
  examples: [
    { description: 'A command of a program', args: ['git', 'remote'] },
    { description: 'A text that somebody saved', args: ['--text', 'help.txt'] },
  ],
  start: async (input, { io, host }) =>
    (await import('../read-help.ts')).printHelpDocument(input, io, host.signal),
})
