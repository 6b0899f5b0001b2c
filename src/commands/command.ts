/**
 * What commands share: how one is defined, the flags that several of them take, how their output is
 * presented, and `--progress`.
 */

import { detectCaller } from '../cli/caller.ts'
import type { ParsedCommand } from '../cli/command.ts'
import type { ResultRenderer } from '../cli/formats/envelope.ts'
import type { Presentation } from '../cli/presentation.ts'
import { choosePresentation } from '../cli/presentation.ts'
import type { BuiltinCommand, BuiltinContext } from '../cli/types.ts'
import { tool } from '../core/tool.ts'
import type { ToolOptions } from '../define/tool-types.ts'
import type { Context } from '../protocol/context.ts'
import type { Io } from '../protocol/io.ts'
import type { RunState } from '../protocol/run-state.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { describeUnknownName } from '../util/text.ts'
import type { JsonSchema } from '../util/values.ts'
import { compact } from '../util/values.ts'

/** Where a command works: its directory and its environment. */
export type CommandContext = Pick<Io, 'cwd' | 'env'>

/** What a command needs to print: the streams, and the flags that say how. */
export type OutputContext = Pick<BuiltinContext, 'io' | 'globals'>

/** A command line that names a tool; for `toolable` itself, one of its commands. */
export type ToolInvocation = ParsedCommand & { readonly kind: 'tool' }

/** A command of the program `toolable`: a tool, and what the command line adds to it. */
export type ToolableCommand = BuiltinCommand & {
  /** What its first positional names, so that shells complete it. */
  readonly completes?: 'tool' | 'run' | 'runs'
  /**
   * Takes the command line unread, because the words after its own flags belong to a tool. Used
   * instead of `run` and `start`.
   */
  readonly runRaw?: (command: ToolInvocation, context: BuiltinContext) => Promise<number>
  /** Renders the result for a person; default: the general form. Loaded late: agents read JSON. */
  readonly text?: () => Promise<ResultRenderer>
  /** For a person, the result already says what the events would; only programs get both. */
  readonly tellsAll?: true
  /** The exit status of a result; default 0. */
  readonly exit?: (result: unknown) => number
}

type JsonSchemas = { readonly [name: string]: JsonSchema }

type CommandDefinition = Omit<ToolableCommand, 'tool' | 'start'> &
  Omit<ToolOptions, 'name' | 'input' | 'flags' | 'run'> & {
    /** The fields of the input, which become its flags and positionals. */
    readonly properties?: JsonSchemas
    /** Which of them must be given. */
    readonly required?: readonly string[]
    /** The shared flags that follow its own: all that choose the registry, or `--config` alone. */
    readonly flags?: 'registry' | 'config'
    /** Performs it; the input has been checked. */
    readonly run?: (input: never, ctx: Context) => unknown
    /** Performs it and prints what it likes; gives the exit status. */
    readonly start?: (input: never, context: BuiltinContext) => Promise<number | undefined>
  }

/** Defines a command. The name of its tool follows from its path: `['runs', 'list']`, `runs_list`. */
export function defineCommand({
  path,
  start,
  completes,
  runRaw,
  text,
  tellsAll,
  exit,
  properties,
  flags,
  required = flags && [],
  ...options
}: CommandDefinition): ToolableCommand {
  const input = compact({
    type: 'object',
    properties: { ...properties, ...SHARED_PROPERTIES[flags ?? 'none'] },
    required,
    additionalProperties: false,
  })
  const name = path.join('_').replaceAll('-', '_')
  return {
    path,
    tool: tool({ ...options, name, input } as never),
    ...compact({
      start: start as ToolableCommand['start'],
      completes,
      runRaw,
      text,
      tellsAll,
      exit,
    }),
  }
}

/** How the output of a command is presented. */
export function getPresentation({ io, globals }: OutputContext): Presentation {
  return choosePresentation(globals, io)
}

/** Whether stdout is read by a person: text, and not JSON for a program. */
export function isTextOutput(context: OutputContext): boolean {
  return getPresentation(context).mode === 'text'
}

/** Prints what a command came to: a line for a person, an envelope for a program. */
export function printResult(
  context: OutputContext,
  text: string,
  result: object,
  meta: object,
): void {
  const envelope = { ok: true, status: 'success', result, meta }
  context.io.stdout.write(`${isTextOutput(context) ? text : JSON.stringify(envelope)}\n`)
}

/** The flags of every command that works with a registry: which tools there are. */
export const REGISTRY_PROPERTIES = {
  config: {
    type: 'string',
    description:
      'The configuration file; default: the nearest toolable.yaml or toolable.json upwards',
  },
  folder: {
    type: 'array',
    items: { type: 'string' },
    description: 'A folder with tools, besides those of the configuration',
  },
  strict: { type: 'boolean', description: 'Two tools of one name and tier are an error' },
  probeUnsandboxed: {
    type: 'boolean',
    description: 'Ask scripts what they are even where no sandbox can hold them',
  },
  cache: { type: 'boolean', default: true, description: 'Remember what scripts answered' },
} as const satisfies JsonSchemas

const SHARED_PROPERTIES = {
  none: {},
  registry: REGISTRY_PROPERTIES,
  config: { config: REGISTRY_PROPERTIES.config },
} as const

/** A list of texts: a flag that may be repeated. */
export const TEXTS_SCHEMA = { type: 'array', items: { type: 'string' } } as const

/** The run that a command is about. */
export const RUN_SCHEMA = {
  type: 'string',
  description: "The id of a run, the beginning of it, or 'latest'",
} as const

/** The workflow that a command is about. */
export const WORKFLOW_SCHEMA = {
  type: 'string',
  description:
    'A file (YAML or JSON), or the name of one in the folder workflows beside toolable.yaml',
} as const

const PROGRESS_MODES = ['auto', 'tty', 'plain', 'jsonl', 'none'] as const

/** The flag of every command that follows runs. */
export const PROGRESS_PROPERTY = {
  type: 'string',
  enum: PROGRESS_MODES,
  default: 'auto',
  description:
    'How what goes on is shown: a live tree (tty) or events (jsonl) on stderr; lines of words (plain) on stderr, and on stdout, the result among them, where that is text; or not at all (none), so that text is the result alone. auto is a tree where a person looks on',
} as const

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
    ...TEXTS_SCHEMA,
    description: 'An answer before the tool asks: key=value, the key, id or action of the question',
  },
  wait: {
    type: 'boolean',
    description: 'Wait for toolable answer from elsewhere also where nobody here can answer',
  },
  progress: PROGRESS_PROPERTY,
} as const satisfies JsonSchemas

/** What `--progress` leads to: a tree, lines of words on stdout, or something on stderr beside it. */
export type ProgressStyle = 'tree' | 'words' | 'words-beside' | 'events-beside' | 'none'

/**
 * Decides how a run is shown. Throws USAGE where a tree is wanted that cannot be drawn, and
 * INVALID_INPUT for an unknown word.
 */
export function chooseProgress(wish = 'auto', { io, globals }: OutputContext): ProgressStyle {
  const forPeople = isTextOutput({ io, globals }) && !globals.stream
  switch (wish) {
    case 'auto':
      if (canDrawTree(io, forPeople)) return 'tree'
      return forPeople ? 'words' : 'none'
    case 'tty':
      if (io.screen) return 'tree'
      throw new ToolError(
        'USAGE',
        '--progress tty needs a terminal on stderr that can be drawn on',
        { field: 'progress', suggestion: '--progress plain' },
      )
    case 'plain':
      return forPeople ? 'words' : 'words-beside'
    case 'jsonl':
      return 'events-beside'
    case 'none':
      return 'none'
    default:
      throw new ToolError(
        'INVALID_INPUT',
        describeUnknownName('progress', wish, PROGRESS_MODES).message,
        { field: 'progress', suggestion: `Use one of ${PROGRESS_MODES.join(', ')}` },
      )
  }
}

// A tree would be torn by lines of JSON on the same terminal, and by a program that reads them and
// writes there too.
function canDrawTree(io: Io, forPeople: boolean): boolean {
  if (!io.screen || detectCaller(io.env)) return false
  return io.stdout.isTTY ? forPeople : io.stdout.isPipe !== true
}

/** That a run is over, and nothing can be done with it. */
export function createRunOverError(
  id: string,
  state: RunState,
  suggestion = `toolable runs show ${id}`,
): ToolError {
  return new ToolError('PRECONDITION', `${id} is over: it is ${state}`, {
    field: 'run',
    suggestion,
  })
}

/** The command that performs a detached run; only this program starts it. */
export const SUPERVISE_COMMAND = '__supervise'

/** Who answers at the terminal, for the record. */
export const PERSON_NAME = 'a person'
