/**
 * Definitions: init, check, doctor, build.
 */

import type { BuildOptions } from '../../bundler/build-program.ts'
import { tool } from '../../core/tool.ts'
import { compact } from '../../util/values.ts'
import type { CheckInput } from '../check/check.ts'
import type { ToolableCommand } from '../command.ts'
import type { DoctorInput } from '../doctor.ts'
import type { InitInput } from '../init.ts'

/** The name of a tool that is a folder, a function and a word on the command line. */
const TOOL_NAME_PATTERN = '^[a-z][a-z0-9_]{0,49}$'

/** `toolable init [folder]`: a project that runs its first tool. */
export const initCommand: ToolableCommand = {
  path: ['init'],
  tool: tool({
    name: 'init',
    summary: 'Begin a project of tools, or add a tool to one',
    description:
      'Writes ./tool, which runs the tools of the project, toolable.yaml, a first tool and its manifest; for Python and shell also the helper that makes it a full tool. A file that is there already and differs is never touched: nothing is written then, and the files are named.',
    input: {
      type: 'object',
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
      additionalProperties: false,
    },
    positional: ['folder'],
    annotations: { idempotent: true },
    dryRun: true,
    examples: [
      { description: 'A first tool in Python, here', args: ['--language', 'python'] },
      {
        description: 'One more tool, in shell',
        args: ['--language', 'sh', '--name', 'count_lines'],
      },
    ],
    run: async (input, ctx) => (await import('../init.ts')).initProject(input as InitInput, ctx),
  }),
  text: async () => (await import('../init.ts')).renderInit,
}

/** What `toolable check` asks of a program that nobody said a number for. */
const DEFAULT_MIN_PERCENT = 80
const DEFAULT_RUN_SECONDS = 10

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
      additionalProperties: false,
    },
    positional: ['path'],
    annotations: { readOnly: true },
    examples: [
      { description: 'One program', args: ['./weather.py'] },
      { description: 'In CI, with no excuse', args: ['tools', '--min', '100'] },
    ],
    run: async (input, ctx) =>
      (await import('../check/check.ts')).checkPaths(input as CheckInput, ctx),
  }),
  text: async () => (await import('../check/check.ts')).renderCheck,
  exit: (result) => ((result as { readonly enough: boolean }).enough ? 0 : 1),
}

/** `toolable doctor`: what can this machine enforce? */
export const doctorCommand: ToolableCommand = {
  path: ['doctor'],
  tool: tool({
    name: 'doctor',
    summary: 'Say what this machine can enforce on tools, and what stands in the way of runs',
    description:
      'Tries everything instead of believing it: a sandbox from which a program tries to get out, a granted server, the folder of the runs, clock, space, configuration and policies. What is missing comes with a fix to paste. Exits 1 where something is broken, or --level is not reached.',
    input: {
      type: 'object',
      properties: {
        level: {
          type: 'string',
          enum: ['L1', 'L2', 'L3'],
          description: 'The level that has to be reached',
        },
      },
      additionalProperties: false,
    },
    annotations: { readOnly: true },
    examples: [
      { description: 'What can be enforced here?', args: [] },
      { description: 'In CI, where tools must be sandboxed', args: ['--level', 'L3'] },
    ],
    run: async (input, ctx) => (await import('../doctor.ts')).diagnose(input as DoctorInput, ctx),
  }),
  text: async () => (await import('../doctor.ts')).renderDiagnosis,
  exit: (result) => ((result as { readonly enough: boolean }).enough ? 0 : 1),
}

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
      const { buildProgram } = await import('../../bundler/build-program.ts')
      return buildProgram(
        compact({
          entry,
          out,
          name,
          external,
          portable: portable === true,
          single: single === true,
        }),
        { cwd: ctx.cwd, env: ctx.env, signal: ctx.signal },
      )
    },
  }),
  text: async () => (await import('../../bundler/build-program.ts')).renderBuild,
}
