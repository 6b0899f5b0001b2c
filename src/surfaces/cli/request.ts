import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { InputOrigin } from '../../contract/errors.ts'
import type { Io } from '../../contract/io.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { FlagSpec } from '../../define/flags/flag-spec.ts'
import { CONTROL_FLAGS, INJECTED_FLAGS, PROGRAM_FLAGS } from '../../define/flags/injected.ts'
import { flagSpecs } from '../../define/flags/specs.ts'
import type { Stopping } from '../../call/cancellation.ts'
import type { ToolEntry } from '../../call/collect.ts'
import { feedReserved } from './argv/feed-reserved.ts'
import { flagTable } from '../../define/argv/flag-table.ts'
import { readGlobals } from './argv/globals.ts'
import type { Globals } from './argv/globals.ts'
import { scan } from '../../define/argv/scan.ts'
import type { GivenFlag, Scanned, Word } from '../../define/argv/scan.ts'
import { wholeInput } from '../../define/argv/whole-input.ts'
import { parseJsonInput } from '../../define/argv/json-input.ts'
import { FIRST_BYTE_MS, readAll } from './stdin.ts'

/** The arguments of one tool, split but not yet read as input. */
export type ToolArguments = {
  readonly specs: readonly FlagSpec[]
  readonly scanned: Scanned
  readonly problem: ToolError | undefined
}

/** Where an input came from, and the input itself. */
export type ReadInput = {
  readonly input: unknown
  readonly origin: InputOrigin
  readonly warnings: readonly string[]
}

/** Splits a tool's arguments and reads the injected flags among them into `globals`. */
export async function scanTool(
  entry: ToolEntry,
  tokens: readonly string[],
  globals: Globals,
  single: boolean,
): Promise<ToolArguments> {
  const manifest = entry.definition.sketch() ?? (await entry.definition.compiled()).manifest
  const specs = flagSpecs(manifest)
  const table = flagTable(specs, INJECTED_FLAGS, CONTROL_FLAGS)
  const scanned = scan(tokens, table, {
    booleanValues: manifest.positional.length === 0,
    explainUnknown: (written) =>
      !single && PROGRAM_FLAGS.some(({ long }) => `--${long}` === written)
        ? 'it goes before the tool name'
        : undefined,
  })
  const problem = readGlobals(globals, scanned.flags) ?? scanned.problem
  return { specs, scanned, problem }
}

/** Reads the input: one JSON object, `@file.json`, `-` or a pipe, or flags. Throws USAGE or INVALID_INPUT. */
export async function readInput(
  { specs, scanned }: ToolArguments,
  globals: Globals,
  io: Io,
  options: {
    readonly defaults?: { readonly [field: string]: unknown }
    readonly stdinTaken: boolean
    readonly signal?: Stopping
  },
): Promise<ReadInput> {
  const own = scanned.flags.filter(({ flag }) => flag.spec)
  const given = (spec: FlagSpec): boolean =>
    Object.hasOwn(options.defaults ?? {}, spec.field) ||
    (spec.env !== undefined && Boolean(io.env[spec.env]))
  const whole = await readWhole(specs, scanned.words, own, io, {
    ...options,
    isMissing: (spec) => spec.required && !given(spec),
  })
  if (whole !== undefined)
    return { input: feedReserved(specs, whole, globals), origin: 'json', warnings: [] }
  // Reading texts by schemas has to be loaded; nothing needs no reading.
  const nothing =
    own.length === 0 && scanned.words.length === 0 && !specs.some(({ env }) => env !== undefined)
  const fields = nothing
    ? (Object.create(null) as Record<string, unknown>)
    : (await import('../../define/argv/input.ts')).inputFromFlags(specs, own, scanned.words, io.env)
  for (const [field, value] of Object.entries(options.defaults ?? {}))
    if (!Object.hasOwn(fields, field)) fields[field] = value
  return {
    input: feedReserved(specs, fields, globals),
    origin: 'flags',
    warnings: swallowedFlags(own),
  }
}

async function readWhole(
  specs: readonly FlagSpec[],
  words: readonly Word[],
  own: readonly GivenFlag[],
  io: Io,
  {
    stdinTaken,
    signal,
    isMissing,
  }: {
    readonly stdinTaken: boolean
    readonly signal?: Stopping
    isMissing(spec: FlagSpec): boolean
  },
): Promise<unknown> {
  const whole = wholeInput(
    words[0],
    specs.some((spec) => spec.positional),
  )
  if (whole !== undefined) {
    const { text } = words[0]!
    if (words.length > 1 || own.length > 0)
      throw new ToolError(
        'USAGE',
        `${whole === 'json' ? 'a JSON object' : text} is the whole input and stands alone`,
        {
          suggestion:
            'Give either one JSON object or flags; write -- before a value that begins with {',
        },
      )
    if (whole === 'json') return parseJsonInput(text, 'the argument')
    if (whole === 'file') return parseJsonInput(readInputFile(text.slice(1), io.cwd), text.slice(1))
    if (stdinTaken) throw stdinConflict()
    return parseJsonInput((await readAll(io.stdin, signal ? { signal } : {})) ?? '', 'stdin')
  }
  const nothingGiven = words.length === 0 && own.length === 0
  if (!nothingGiven || !specs.some(isMissing) || stdinTaken || io.stdin.isTTY) return undefined
  const piped = await readAll(io.stdin, {
    firstByteWithin: FIRST_BYTE_MS,
    ...(signal && { signal }),
  })
  return piped === undefined || piped.trim() === '' ? undefined : parseJsonInput(piped, 'stdin')
}

function readInputFile(name: string, cwd: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(resolve(cwd, name)))
  } catch (error) {
    if (error instanceof TypeError)
      throw new ToolError('INVALID_INPUT', `${name} is not valid UTF-8`, {
        details: { source: name },
      })
    throw new ToolError(
      'INVALID_PATH',
      `the input file ${name} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'error'}`,
      { suggestion: 'Give a file that exists; write -- before a value that begins with @' },
    )
  }
}

function stdinConflict(): ToolError {
  return new ToolError('USAGE', 'stdin cannot carry the input and something else at once', {
    suggestion: 'Give the input as an argument or as @file.json',
  })
}

// `--query --json` is a query for the text --json; whoever meant otherwise should hear of it.
function swallowedFlags(flags: readonly GivenFlag[]): string[] {
  const known = new Set(INJECTED_FLAGS.map(({ long }) => `--${long}`))
  return flags.flatMap(({ values, written }) =>
    values[0] !== undefined && known.has(values[0])
      ? [`${written} took '${values[0]}' as its value`]
      : [],
  )
}
