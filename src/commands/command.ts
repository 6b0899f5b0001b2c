/**
 * What the definitions of commands share: the type of a command, the flags that choose the registry, `--progress`, and a few shared words.
 */

import { detectCaller } from '../cli/caller.ts'
import type { ResultRenderer } from '../cli/formats/envelope.ts'
import { choosePresentation } from '../cli/presentation.ts'
import type { BuiltinCommand } from '../cli/types.ts'
import type { GlobalFlags } from '../define/global-flags.ts'
import type { Io } from '../protocol/io.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { describeUnknownName } from '../util/text.ts'
import type { JsonSchema } from '../util/values.ts'

/** A command of the program `toolable`: a tool, and what the command line adds to it. */
export type ToolableCommand = BuiltinCommand & {
  /**
   * How a person sees the result; default: the general form. Late, because agents do not need it.
   */
  readonly text?: () => Promise<ResultRenderer>
  /** A person sees in the result what the events would say; only programs get both. */
  readonly tellsAll?: true
  /** The exit status of a result; default 0. */
  readonly exit?: (result: unknown) => number
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
} as const satisfies { readonly [name: string]: JsonSchema }

/** The input of a command with the common flags behind its own. */
export function withRegistryProperties<const Own extends { readonly [name: string]: JsonSchema }>(
  properties: Own,
  required: readonly (keyof Own & string)[] = [],
) {
  return {
    type: 'object',
    properties: { ...properties, ...REGISTRY_PROPERTIES },
    required,
    additionalProperties: false,
  } as const
}

/** How a command shows what goes on. */
const PROGRESS_MODES = ['auto', 'tty', 'plain', 'jsonl', 'none'] as const

/** The flag of every command that follows runs. */
export const PROGRESS_PROPERTY = {
  type: 'string',
  enum: PROGRESS_MODES,
  default: 'auto',
  description:
    'How what goes on is shown: a live tree (tty) or events (jsonl) on stderr; lines of words (plain) on stderr, and on stdout, the result among them, where that is text; or not at all (none), so that text is the result alone. auto is a tree where a person looks on',
} as const

/** What comes of it: a tree, lines of words on stdout as ever, or something beside stdout. */
export type ProgressStyle = 'tree' | 'words' | 'words-beside' | 'events-beside' | 'none'

/**
 * Decides how a run is shown. Throws USAGE where a tree is wanted that cannot be drawn, and
 * INVALID_INPUT for an unknown word.
 */
export function chooseProgress(
  wish: string | undefined = 'auto',
  globals: GlobalFlags,
  io: Io,
): ProgressStyle {
  const wanted = PROGRESS_MODES.find((mode) => mode === wish)
  if (wanted === undefined)
    throw new ToolError(
      'INVALID_INPUT',
      describeUnknownName('progress', wish, PROGRESS_MODES).message,
      { field: 'progress', suggestion: `Use one of ${PROGRESS_MODES.join(', ')}` },
    )
  const forPeople = choosePresentation(globals, io).mode === 'text' && !globals.stream
  if (wanted === 'tty') {
    if (!io.screen)
      throw new ToolError(
        'USAGE',
        '--progress tty needs a terminal on stderr that can be drawn on',
        { field: 'progress', suggestion: '--progress plain' },
      )
    return 'tree'
  }
  if (wanted === 'auto') return canDrawTree(io, forPeople) ? 'tree' : forPeople ? 'words' : 'none'
  if (wanted === 'plain') return forPeople ? 'words' : 'words-beside'
  return wanted === 'jsonl' ? 'events-beside' : 'none'
}

// Beside lines of JSON on the same terminal, or of a program that reads them and may show something
// there, a tree would be torn.
function canDrawTree(io: Io, forPeople: boolean): boolean {
  if (!io.screen || detectCaller(io.env)) return false
  return io.stdout.isTTY ? forPeople : io.stdout.isPipe !== true
}

/** The workflow that a command is about. */
export const WORKFLOW_SCHEMA = {
  type: 'string',
  description:
    'A file (YAML or JSON), or the name of one in the folder workflows beside toolable.yaml',
} as const

/** The command by which a detached run is performed; nobody types it. */
export const SUPERVISE_COMMAND = '__supervise'

/** Who answers at the terminal, for the record. */
export const PERSON_NAME = 'a person'
