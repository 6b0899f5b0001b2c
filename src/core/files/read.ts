/**
 * Reading and searching the files of a call within limits: bytes per read, lines per page, time
 * per search.
 */

import { setImmediate } from 'node:timers/promises'
import type { FoundLine, Page, PageOptions } from '../../protocol/state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { shorten } from '../../util/text.ts'
import { compact } from '../../util/values.ts'
import { host } from '../host.ts'
import type { GlobProgress } from './glob.ts'
import { compileGlob } from './glob.ts'
import type { BlobStorage, CallFiles, FileNode, FolderNode } from './tree.ts'
import { createWrongKindError, listChildren } from './tree.ts'

/** A file that is read, and what limits that. */
export type OpenedFile = {
  readonly path: string
  readonly file: FileNode
  readonly storage: BlobStorage
  readonly limits: FileLimits
}

/** All bytes of a file. Throws OUTPUT_LIMIT where there are too many. */
export function readFileBytes({ path, file, storage, limits }: OpenedFile): Uint8Array {
  const { maxBytes } = limits
  if (file.size > maxBytes)
    throw createTooLongError(
      `'${path}' has ${file.size} bytes, more than the ${maxBytes} that are read at once`,
    )
  return storage.read(file, 0, file.size)
}

/**
 * All of a file as text. Throws CONFLICT where it is no UTF-8: what is not read rightly would be
 * written back broken.
 */
export function readFileText(opened: OpenedFile): string {
  const bytes = readFileBytes(opened)
  return withDecodeErrors(opened.path, () => createDecoder().decode(bytes))
}

/**
 * Some lines of a file, however long it is; fewer than wanted where they would be too many bytes
 * together.
 */
export async function readFileLines(
  { path, file, storage, limits: { maxBytes } }: OpenedFile,
  wanted: PageOptions | undefined,
): Promise<Page<string>> {
  const { offset, limit } = parsePage(wanted)
  const items: string[] = []
  const pause = createPauser()
  let [total, bytes] = [0, 0]
  const batches = readLineBatches(file, storage, maxBytes, createDecoder())
  const next = () => withDecodeErrors(path, () => batches.next())
  for (let batch = next(); batch.done !== true; batch = next()) {
    for (const line of batch.value) {
      const index = total++
      // What has no room ends the page: the lines of a page follow each other.
      if (index < offset || items.length >= limit || index !== offset + items.length) continue
      bytes += line.length
      if (bytes <= maxBytes && line.length < maxBytes) items.push(line)
      else if (items.length === 0)
        throw createTooLongError(
          `line ${index + 1} of '${path}' has more than the ${maxBytes} characters that are read at once`,
        )
    }
    await pause()
  }
  return createPage(items, total, offset)
}

const createDecoder = (): InstanceType<typeof TextDecoder> =>
  new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function withDecodeErrors<Value>(path: string, decode: () => Value): Value {
  try {
    return decode()
  } catch (error) {
    if (ToolError.is(error)) throw error
    throw createWrongKindError(path, 'is no UTF-8 text', 'Read its bytes instead')
  }
}

function createTooLongError(message: string): ToolError {
  return new ToolError('OUTPUT_LIMIT', message, {
    recoverable: true,
    suggestion: 'Read a part of it by lines, with offset and limit',
  })
}

type SearchedFiles = Pick<CallFiles, 'root' | 'base' | 'storage'>

const MAX_LINE_LENGTH = 1024 * 1024
const MAX_SHOWN_LENGTH = 1_000
const LINES_PER_BATCH = 5_000
const BINARY_CHECK_BYTES = 8 * 1024

/**
 * The files whose path fits a pattern, by path. The tree is what it is now, whatever happens while
 * it looks.
 */
export async function findFiles(
  { root, base }: SearchedFiles,
  pattern: string,
  { maxSearchMs }: FileLimits,
  inTime = createSearchTimer(maxSearchMs),
): Promise<readonly (readonly [path: string, file: FileNode])[]> {
  const glob = compileGlob(pattern)
  const found: (readonly [string, FileNode])[] = []
  const pause = createPauser()
  const folders: (readonly [prefix: string, folder: FolderNode, progress: GlobProgress])[] = [
    ['', root, glob.start],
  ]
  for (let next = folders.pop(); next; next = folders.pop()) {
    const [prefix, folder, progress] = next
    for (const [name, node] of listChildrenOrNone(folder, base)) {
      if (node.kind === 'file') {
        if (glob.fits(glob.advance(progress, name))) found.push([prefix + name, node])
      } else {
        const inside = glob.advance(progress, `${name}/`)
        if (inside) folders.push([`${prefix}${name}/`, node, inside])
      }
    }
    inTime()
    await pause()
  }
  return found.sort(([left], [right]) => (left < right ? -1 : 1))
}

/**
 * The lines of text files that hold a text or fit an expression. Files that look binary are passed
 * over.
 */
export async function findLines(
  { root, base, storage }: SearchedFiles,
  pattern: string | RegExp,
  limits: FileLimits,
  options: (PageOptions & { readonly glob?: string }) | undefined,
): Promise<Page<FoundLine>> {
  // The root of a call is replaced by each change: the search sees it as it is now.
  const files: SearchedFiles = { root, base, storage }
  const { offset, limit } = parsePage(options)
  const inTime = createSearchTimer(limits.maxSearchMs)
  const test = await createLineTester(pattern, inTime)
  const pause = createPauser()
  const items: FoundLine[] = []
  let total = 0
  let waiting: FoundLine[] = []
  const look = (): void => {
    for (const index of test(waiting.map(({ text }) => text))) {
      const { path, line, text } = waiting[index]!
      if (total >= offset && items.length < limit)
        items.push({ path, line, text: shorten(text, MAX_SHOWN_LENGTH) })
      total += 1
    }
    waiting = []
  }
  for (const [path, file] of await findFiles(files, options?.glob ?? '**', limits, inTime)) {
    let line = 0
    for (const lines of readTextLines(file, files)) {
      for (const text of lines) waiting.push({ path, line: (line += 1), text })
      if (waiting.length >= LINES_PER_BATCH) look()
      inTime()
      await pause()
    }
  }
  look()
  return createPage(items, total, offset)
}

// A folder that went away or may not be seen holds nothing to be found.
function listChildrenOrNone(
  folder: FolderNode,
  base: CallFiles['base'],
): ReturnType<typeof listChildren>['nodes'] {
  try {
    return listChildren(folder, base).nodes
  } catch {
    return []
  }
}

function* readTextLines(
  file: FileNode,
  { storage }: SearchedFiles,
): ReturnType<typeof readLineBatches> {
  try {
    if (storage.read(file, 0, Math.min(BINARY_CHECK_BYTES, file.size)).includes(0)) return
    yield* readLineBatches(file, storage, MAX_LINE_LENGTH, new TextDecoder())
  } catch {
    /* a file that went away or may not be read holds nothing to be found */
  }
}

// Throws TIMEOUT when a search takes too long; gives the milliseconds that are left.
function createSearchTimer(longest: number): () => number {
  const end = host.clock() + longest
  return () => {
    const left = Math.ceil(end - host.clock())
    if (left > 0) return left
    return throwSearchTimeout()
  }
}

const MAX_TESTED_LENGTH = 10_000

/** Tells which of many lines fit. */
type LineTester = (lines: readonly string[]) => readonly number[]

/**
 * Makes the test of lines for a text or an expression. An expression that would go on for ever is
 * stopped when the time is over, and it sees only the first 10,000 characters of a line.
 */
async function createLineTester(
  pattern: string | RegExp,
  inTime: () => number,
): Promise<LineTester> {
  if (typeof pattern === 'string') {
    if (pattern === '')
      throw new ToolError('INVALID_INPUT', 'there is no text to search for', { field: 'pattern' })
    return (lines) => lines.flatMap((line, index) => (line.includes(pattern) ? [index] : []))
  }
  if (!(pattern instanceof RegExp))
    throw new ToolError('INVALID_INPUT', 'a search is for a text or a regular expression', {
      field: 'pattern',
    })
  // Those two flags would make it remember where it was in another line.
  const expression = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''))
  const { runWithTimeLimit } = await import('../../util/time-limit.ts')
  return (lines) =>
    runWithTimeLimit(
      () =>
        lines.flatMap((line, index) =>
          expression.test(line.slice(0, MAX_TESTED_LENGTH)) ? [index] : [],
        ),
      { limit: inTime(), tries: 1 },
    ) ?? throwSearchTimeout()
}

function throwSearchTimeout(): never {
  throw new ToolError('TIMEOUT', 'the search took too long', {
    recoverable: true,
    suggestion:
      "Search less: give a narrower pattern for paths, such as 'src/**/*.ts', or a simpler expression",
  })
}

const CHUNK_BYTES = 256 * 1024

/**
 * The lines of a file, many at a time and without their ends; of a line that is longer than
 * `longest` characters only the beginning. `decoder` is used up.
 */
function* readLineBatches(
  file: FileNode,
  storage: BlobStorage,
  longest: number,
  decoder: InstanceType<typeof TextDecoder>,
): Generator<readonly string[]> {
  let rest = ''
  for (let offset = 0; offset < file.size; offset += CHUNK_BYTES) {
    const bytes = storage.read(file, offset, Math.min(CHUNK_BYTES, file.size - offset))
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop()!.slice(0, longest)
    if (lines.length > 0) yield lines.map((line) => trimLine(line, longest))
  }
  rest += decoder.decode()
  if (rest !== '') yield [trimLine(rest, longest)]
}

function trimLine(line: string, longest: number): string {
  return (line.endsWith('\r') ? line.slice(0, -1) : line).slice(0, longest)
}

const DEFAULT_PAGE_LIMIT = 1_000

/** The part of a list that is wanted. Throws INVALID_INPUT for a part that cannot be. */
function parsePage({
  offset = 0,
  limit = DEFAULT_PAGE_LIMIT,
}: PageOptions = {}): Required<PageOptions> {
  for (const [field, value, least] of [
    ['offset', offset, 0],
    ['limit', limit, 1],
  ] as const)
    if (!Number.isSafeInteger(value) || value < least)
      throw new ToolError(
        'INVALID_INPUT',
        `'${field}' must be a whole number from ${least}, not ${String(value)}`,
        { field },
      )
  return { offset, limit }
}

/** The part of a whole list that is wanted. */
export function slicePage<Item>(all: readonly Item[], wanted: PageOptions | undefined): Page<Item> {
  const { offset, limit } = parsePage(wanted)
  return createPage(all.slice(offset, offset + limit), all.length, offset)
}

/** A part of a list of which only the number of all items is known. */
function createPage<Item>(items: readonly Item[], total: number, offset: number): Page<Item> {
  const next = offset + items.length
  return compact({ items, total, next: items.length > 0 && next < total ? next : undefined })
}

const MAX_TURN_MS = 8

/** Lets others have their turn from time to time, in work that would hold them up. */
function createPauser(): () => Promise<void> | undefined {
  let last = host.clock()
  return () => {
    if (host.clock() - last < MAX_TURN_MS) return undefined
    return setImmediate().then(() => {
      last = host.clock()
    })
  }
}

/** Limits of files that are offered to calls. */
export type FilesOptions = {
  /** Most bytes that one reading gives at once; default 10 MiB. Longer files are read by lines. */
  readonly maxBytes?: number
  /** Longest time of one `glob` or `grep` in milliseconds; default 10,000. */
  readonly maxSearchMs?: number
}

/** The limits with their defaults. */
export type FileLimits = Required<FilesOptions>

/** How files in memory are offered to calls. */
export type MemoryFilesOptions = FilesOptions & {
  /**
   * Most bytes that all files have together, each file and folder counted with 256 besides; default
   * 256 MiB, beyond is DISK_FULL.
   */
  readonly maxTotalBytes?: number
}

/** How a folder is offered to calls. */
export type FolderFilesOptions = FilesOptions & {
  /**
   * Commits survive also the death of the machine, not only that of the process; each costs some
   * milliseconds more. Default false.
   */
  readonly flush?: boolean
}

/** The limits with their defaults. Throws CONFIG for what is no limit. */
export function resolveLimits({
  maxBytes = 10 * 1024 * 1024,
  maxSearchMs = 10_000,
}: FilesOptions): FileLimits {
  return {
    maxBytes: validateLimit('maxBytes', maxBytes),
    maxSearchMs: validateLimit('maxSearchMs', maxSearchMs),
  }
}

/** A limit that has to be a whole number above 0. Throws CONFIG for what is none. */
export function validateLimit(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new ToolError('CONFIG', `'${name}' must be a whole number from 1, not ${String(value)}`)
  return value
}
