/**
 * Reads the input of a call: flags, one JSON object, `@file`, or stdin; and stdin itself, as a
 * whole or line by line.
 */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CancelSignal } from '../core/call.ts'
import { runUntilAborted } from '../core/lifecycle.ts'
import type { FlagSpec, GlobalFlags } from '../define/global-flags.ts'
import { applyReservedFlags } from '../define/global-flags.ts'
import type { ToolArguments } from '../define/tool-arguments.ts'
import { buildInput, checkStandsAlone } from '../define/tool-arguments.ts'
import type { InputOrigin } from '../protocol/errors.ts'
import type { ByteSource, Io } from '../protocol/io.ts'
import { parseJsonInput } from '../protocol/parse-json.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { waitAtMost } from '../util/async.ts'
import { compact } from '../util/values.ts'

/** Where an input came from, and the input itself. */
type ParsedInput = {
  readonly input: unknown
  readonly origin: InputOrigin
  readonly warnings: readonly string[]
}

type ReadInputOptions = {
  /** Fields that the settings of the user set. */
  readonly defaults?: { readonly [field: string]: unknown }
  readonly stdinTaken: boolean
  readonly signal?: CancelSignal
}

/**
 * Reads the input: one JSON object, `@file.json`, `-` or a pipe, or flags. Throws USAGE or
 * INVALID_INPUT.
 */
export async function readInput(
  args: ToolArguments,
  globals: GlobalFlags,
  io: Io,
  options: ReadInputOptions,
): Promise<ParsedInput> {
  const whole = await readWholeInput(args, io, options)
  if (whole !== undefined)
    return { input: applyReservedFlags(args.specs, whole, globals), origin: 'json', warnings: [] }
  return { ...(await buildInput(args, globals, io.env, options.defaults)), origin: 'flags' }
}

async function readWholeInput(
  args: ToolArguments,
  io: Io,
  { defaults = {}, stdinTaken, signal }: ReadInputOptions,
): Promise<unknown> {
  const { whole, words, flags, specs } = args
  if (whole !== undefined) {
    checkStandsAlone(args)
    const { text } = words[0]!
    if (whole === 'json') return parseJsonInput(text, 'the argument')
    if (whole === 'file') return parseJsonInput(readInputFile(text.slice(1), io.cwd), text.slice(1))
    if (stdinTaken) throw stdinConflictError()
    return parseJsonInput((await readStdinText(io.stdin, compact({ signal }))) ?? '', 'stdin')
  }
  if (words.length > 0 || flags.length > 0 || stdinTaken) return undefined
  const isMissing = ({ required, field, env }: FlagSpec): boolean =>
    required && !Object.hasOwn(defaults, field) && !(env !== undefined && io.env[env])
  if (!specs.some(isMissing) || io.stdin.isTTY) return undefined
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
  const first =
    options.firstByteWithin === undefined
      ? await next()
      : await waitAtMost(options.firstByteWithin, next())
  if (!first) {
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

const MAX_LINE_CHARS = 16 * 1024 * 1024

/**
 * Reads stdin line by line; a line that was read but not wanted can be put back for the next
 * reader.
 */
export type StdinLineReader = {
  /** The next line, which may be empty; undefined at the end. */
  next(signal?: AbortSignal): Promise<string | undefined>
  /** Returns lines to the front, for the next reader. */
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
