/**
 * Reads the input of a call: flags, one JSON object, `@file`, or stdin; and stdin itself, as a
 * whole or line by line.
 */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CancelSignal } from '../core/call.ts'
import { runUntilAborted } from '../core/lifecycle.ts'
import type { ToolEntry } from '../core/tool.ts'
import { createFlagTable, detectWholeInput, scanArgv } from '../define/argv.ts'
import type { ArgvWord, ParsedFlag, ScannedArgv } from '../define/argv.ts'
import { toFlagSpecs } from '../define/flag-specs.ts'
import { CONTROL_FLAGS, GLOBAL_FLAGS, PROGRAM_FLAGS } from '../define/global-flags.ts'
import type { FlagSpec } from '../define/global-flags.ts'
import type { InputOrigin } from '../protocol/errors.ts'
import type { ByteSource, Io } from '../protocol/io.ts'
import { parseJsonInput } from '../protocol/parse-json.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact, isObject } from '../util/values.ts'
import { readGlobalFlags } from './global-flags.ts'
import type { GlobalFlags } from './global-flags.ts'

/** The arguments of one tool, split but not yet read as input. */
export type ToolArguments = {
  readonly specs: readonly FlagSpec[]
  readonly scanned: ScannedArgv
  readonly problem: ToolError | undefined
}

/** Where an input came from, and the input itself. */
type ParsedInput = {
  readonly input: unknown
  readonly origin: InputOrigin
  readonly warnings: readonly string[]
}

/** Splits a tool's arguments and reads the injected flags among them into `globals`. */
export async function scanToolArguments(
  entry: ToolEntry,
  tokens: readonly string[],
  globals: GlobalFlags,
  single: boolean,
): Promise<ToolArguments> {
  const manifest =
    entry.definition.previewManifest() ?? (await entry.definition.compiled()).manifest
  const specs = toFlagSpecs(manifest)
  const table = createFlagTable(specs, GLOBAL_FLAGS, CONTROL_FLAGS)
  const scanned = scanArgv(tokens, table, {
    booleanValues: manifest.positional.length === 0,
    explainUnknown: (written) =>
      !single && PROGRAM_FLAGS.some(({ long }) => `--${long}` === written)
        ? 'it goes before the tool name'
        : undefined,
  })
  const problem = readGlobalFlags(globals, scanned.flags) ?? scanned.problem
  return { specs, scanned, problem }
}

/**
 * Reads the input: one JSON object, `@file.json`, `-` or a pipe, or flags. Throws USAGE or
 * INVALID_INPUT.
 */
export async function readInput(
  { specs, scanned }: ToolArguments,
  globals: GlobalFlags,
  io: Io,
  options: {
    readonly defaults?: { readonly [field: string]: unknown }
    readonly stdinTaken: boolean
    readonly signal?: CancelSignal
  },
): Promise<ParsedInput> {
  const own = scanned.flags.filter(({ flag }) => flag.spec)
  const given = (spec: FlagSpec): boolean =>
    Object.hasOwn(options.defaults ?? {}, spec.field) ||
    (spec.env !== undefined && Boolean(io.env[spec.env]))
  const whole = await readWholeInput(specs, scanned.words, own, io, {
    ...options,
    isMissing: (spec) => spec.required && !given(spec),
  })
  if (whole !== undefined)
    return { input: applyReservedFlags(specs, whole, globals), origin: 'json', warnings: [] }
  // Reading texts by schemas has to be loaded; nothing needs no reading.
  const nothing =
    own.length === 0 && scanned.words.length === 0 && !specs.some(({ env }) => env !== undefined)
  const fields = nothing
    ? (Object.create(null) as Record<string, unknown>)
    : (await import('../define/flag-input.ts')).buildInputFromFlags(
        specs,
        own,
        scanned.words,
        io.env,
      )
  for (const [field, value] of Object.entries(options.defaults ?? {}))
    if (!Object.hasOwn(fields, field)) fields[field] = value
  return {
    input: applyReservedFlags(specs, fields, globals),
    origin: 'flags',
    warnings: findSwallowedFlags(own),
  }
}

async function readWholeInput(
  specs: readonly FlagSpec[],
  words: readonly ArgvWord[],
  own: readonly ParsedFlag[],
  io: Io,
  {
    stdinTaken,
    signal,
    isMissing,
  }: {
    readonly stdinTaken: boolean
    readonly signal?: CancelSignal
    isMissing(spec: FlagSpec): boolean
  },
): Promise<unknown> {
  const whole = detectWholeInput(
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
    if (stdinTaken) throw stdinConflictError()
    return parseJsonInput((await readStdinText(io.stdin, signal ? { signal } : {})) ?? '', 'stdin')
  }
  const nothingGiven = words.length === 0 && own.length === 0
  if (!nothingGiven || !specs.some(isMissing) || stdinTaken || io.stdin.isTTY) return undefined
  const piped = await readStdinText(
    io.stdin,
    compact({ firstByteWithin: FIRST_BYTE_TIMEOUT_MS, signal }),
  )
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

function stdinConflictError(): ToolError {
  return new ToolError('USAGE', 'stdin cannot carry the input and something else at once', {
    suggestion: 'Give the input as an argument or as @file.json',
  })
}

// `--query --json` is a query for the text --json; whoever meant otherwise should hear of it.
function findSwallowedFlags(flags: readonly ParsedFlag[]): string[] {
  const known = new Set(GLOBAL_FLAGS.map(({ long }) => `--${long}`))
  return flags.flatMap(({ values, written }) =>
    values[0] !== undefined && known.has(values[0])
      ? [`${written} took '${values[0]}' as its value`]
      : [],
  )
}

type FieldValues = Record<string, unknown>

/** Gives reserved fields the value of the injected flag that feeds them. */
export function applyReservedFlags(
  specs: readonly FlagSpec[],
  input: unknown,
  globals: GlobalFlags,
): unknown {
  const fed: FieldValues = Object.create(null) as FieldValues
  for (const { field, fedBy, kind } of specs) {
    if (fedBy === 'timeout' && globals.timeout !== undefined)
      fed[field] = toNumberIfNumeric(globals.timeout)
    if (fedBy === 'dry-run' && globals.dryRun) fed[field] = true
    if (fedBy === 'verbose' && globals.verbose > 0)
      fed[field] = kind === 'boolean' ? true : globals.verbose
  }
  return Object.keys(fed).length > 0 && (isObject(input) || input === undefined)
    ? Object.assign(Object.create(null) as FieldValues, input, fed)
    : input
}

// The field is a number of seconds in most tools; `500ms` stays text for those that take it.
function toNumberIfNumeric(text: string): unknown {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

/** How long a pipe that stays silent is waited for when input may or may not come. */
const FIRST_BYTE_TIMEOUT_MS = 300
const MAX_INPUT_BYTES = 256 * 1024 * 1024

/**
 * Reads all of stdin as text. With `firstByteWithin`, gives undefined when nothing came in that
 * time, or nothing at all. Throws INVALID_INPUT for invalid UTF-8.
 */
export async function readStdinText(
  stdin: ByteSource,
  options: { readonly firstByteWithin?: number; readonly signal?: CancelSignal } = {},
): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  const iterator = stdin.bytes()[Symbol.asyncIterator]()
  const { signal } = options
  const next = (): Promise<IteratorResult<Uint8Array>> =>
    signal ? runUntilAborted(signal, () => iterator.next()) : iterator.next()
  const first = await withTimeout(next(), options.firstByteWithin)
  if (first === 'late') {
    stdin.close()
    return undefined
  }
  for (let step = first; !step.done; step = await next()) {
    chunks.push(step.value)
    size += step.value.length
    if (size > MAX_INPUT_BYTES)
      throw new ToolError(
        'INVALID_INPUT',
        `the input on stdin is larger than ${MAX_INPUT_BYTES} bytes`,
        { details: { source: 'stdin' } },
      )
  }
  if (size === 0 && options.firstByteWithin !== undefined) return undefined
  return decodeUtf8(chunks)
}

function decodeUtf8(chunks: readonly Uint8Array[]): string {
  const bytes = Buffer.concat(chunks)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ToolError(
      'INVALID_INPUT',
      `the input on stdin is not valid UTF-8 (at byte ${findInvalidByte(bytes)})`,
      { details: { source: 'stdin' }, suggestion: 'Send JSON encoded as UTF-8' },
    )
  }
}

// Decoding and encoding again changes the first byte that was not valid.
function findInvalidByte(bytes: Buffer): number {
  const again = Buffer.from(bytes.toString('utf8'))
  let index = 0
  while (index < bytes.length && bytes[index] === again[index]) index++
  return index
}

async function withTimeout<T>(
  promise: Promise<T>,
  milliseconds: number | undefined,
): Promise<T | 'late'> {
  if (milliseconds === undefined) return promise
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), milliseconds)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

const MAX_LINE_CHARS = 16 * 1024 * 1024

/**
 * Reads stdin line by line; a line that was read but not wanted can be put back for the next
 * reader.
 */
export type StdinLineReader = {
  /** The next line, which may be empty; undefined at the end. */
  next(signal?: AbortSignal): Promise<string | undefined>
  /** Hands a line to whoever reads next. */
  putBack(lines: readonly string[]): void
}

/** One reader for the one owner of stdin. */
export function createLineReader(stdin: ByteSource): StdinLineReader {
  const kept: string[] = []
  let iterator: AsyncIterator<Uint8Array> | undefined
  let pending: Promise<IteratorResult<Uint8Array>> | undefined
  let rest = ''
  let ended = false
  // Lossy on purpose: one bad byte spoils its own line, not the dialogue.
  const decoder = new TextDecoder('utf-8')

  // A reader that was cancelled leaves its chunk to the next one.
  const readOn = (): Promise<IteratorResult<Uint8Array>> => {
    iterator ??= stdin.bytes()[Symbol.asyncIterator]()
    return (pending ??= iterator.next())
  }
  const takeLine = (): string | undefined => {
    const end = rest.indexOf('\n')
    if (end < 0) return undefined
    const line = rest.slice(0, end).replace(/\r$/, '')
    rest = rest.slice(end + 1)
    return line
  }
  return {
    async next(signal) {
      const early = kept.shift() ?? takeLine()
      if (early !== undefined) return early
      while (!ended) {
        const step = await (signal ? runUntilAborted(signal, readOn) : readOn())
        pending = undefined
        if (step.done) {
          ended = true
          rest += decoder.decode()
          break
        }
        rest += decoder.decode(step.value, { stream: true })
        if (rest.length > MAX_LINE_CHARS && !rest.includes('\n'))
          throw new ToolError(
            'INVALID_INPUT',
            `a line on stdin is longer than ${MAX_LINE_CHARS} characters`,
          )
        const line = takeLine()
        if (line !== undefined) return line
      }
      const last = rest.replace(/\r$/, '')
      rest = ''
      return last === '' ? undefined : last
    },
    putBack: (lines) => void kept.unshift(...lines),
  }
}

/**
 * Runs work in the order in which it came, each when the one before has ended, however it ended.
 * What was aborted before its turn is not begun.
 */
type AbortableQueue = <T>(signal: AbortSignal, work: () => Promise<T>) => Promise<T>

/** Starts a line in which nobody stands yet. */
export function createAbortableQueue(): AbortableQueue {
  let last: Promise<unknown> = Promise.resolve()
  return (signal, work) => {
    const mine = last.then(() => {
      signal.throwIfAborted()
      return work()
    })
    last = mine.catch(() => undefined)
    return mine
  }
}
