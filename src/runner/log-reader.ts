/**
 * Reads records of runs: events from the beginning, lines as they are appended, and the state a log
 * ends in.
 */

import { existsSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { RunEvent, RunStateInfo } from '../protocol/run-state.ts'
import { applyRunEvent, INITIAL_RUN_STATE } from '../protocol/run-state.ts'
import { LINE_FEED, watchFolder } from '../util/files.ts'
import { KIBIBYTE, MEBIBYTE } from '../util/units.ts'
import { compact, parseJsonObject } from '../util/values.ts'
import { openRegularFile } from './files.ts'

type ReadEventsOptions = FollowLinesOptions & {
  /** The first number that is wanted; default 1. */
  readonly from?: number
}

/**
 * The events of a log in order. Lines that are no events are left out. A log that does not exist is
 * empty. Throws PERMISSION or INTERNAL when the file cannot be read.
 */
export async function* readEvents(
  path: string,
  options: ReadEventsOptions = {},
): AsyncGenerator<RunEvent> {
  for await (const events of readEventBatches(path, options)) yield* events
}

/** The same, as many at a time as there are: a promise for each event costs more than the event. */
export async function* readEventBatches(
  path: string,
  { from = 1, ...options }: ReadEventsOptions = {},
): AsyncGenerator<RunEvent[]> {
  for await (const lines of followLines(path, options)) {
    const events = lines.flatMap((line) => parseEvent(line) ?? []).filter(({ seq }) => seq >= from)
    if (events.length > 0) yield events
  }
}

const MAX_TAIL_BYTES = MEBIBYTE

type FollowLinesOptions = {
  /** Goes on waiting for more at the end, until the signal, or until the folder is gone. */
  readonly follow?: boolean
  readonly signal?: AbortSignal
  /** Asked at each end of what there is while following: true when nothing will come any more. */
  readonly isComplete?: () => boolean
  /** A last line without an end counts too, when nothing will come any more. */
  readonly withTail?: boolean
}

/**
 * The lines of a file as they come, as many at a time as there are. A line without an end is not
 * there yet. A file that does not exist is empty. Throws PERMISSION or INTERNAL when it cannot be
 * read.
 */
export async function* followLines(
  path: string,
  { follow = false, signal, isComplete, withTail = false }: FollowLinesOptions = {},
): AsyncGenerator<string[]> {
  const growth = follow ? watchFileGrowth(path, signal) : undefined
  let file: FileHandle | undefined
  let end = 0
  try {
    for (;;) {
      // Asked before reading: what was written before it was true is still read.
      const complete = !growth || growth.isOver || isComplete?.() === true
      file ??= await openRegularFile(path)
      // From the last end of a line each time: what stood behind it may have been cut and written
      // anew.
      for await (const piece of file ? readWholeLines(file, end) : []) {
        end = piece.end
        yield piece.bytes.toString('utf8').slice(0, -1).split('\n')
        if (signal?.aborted) return
      }
      if (complete) {
        const rest = withTail && file ? await readTail(file, end) : ''
        if (rest !== '') yield [rest]
        return
      }
      await growth.waitForMore()
    }
  } finally {
    growth?.close()
    await file?.close()
  }
}

async function readTail(file: FileHandle, from: number): Promise<string> {
  const { buffer, bytesRead } = await file.read(
    Buffer.alloc(MAX_TAIL_BYTES),
    0,
    MAX_TAIL_BYTES,
    from,
  )
  return buffer.toString('utf8', 0, bytesRead)
}

/**
 * What a log says of its run, and how many of its bytes say something: the rest is what a crash has
 * left.
 */
type LogScan = { readonly standing: RunStateInfo; readonly last?: RunEvent; readonly end: number }

/** Parses a line of a log; undefined when it is no event. */
export function parseEvent(line: string): RunEvent | undefined {
  const value = line.startsWith('{') ? parseJsonObject(line) : undefined
  return value &&
    typeof value['type'] === 'string' &&
    Number.isSafeInteger(value['seq']) &&
    Number.isSafeInteger(value['attempt'])
    ? (value as unknown as RunEvent)
    : undefined
}

/**
 * Reads a log once, from its beginning; only lines that change where a run stands are looked into.
 * Throws only when the file cannot be read.
 */
export async function scanLog(file: PositionalReader): Promise<LogScan> {
  const quick = await scanLines(file, false)
  return quick.damaged ? scanLines(file, true) : quick
}

type LogScanPass = LogScan & { readonly damaged: boolean }

// The bytes are read as Latin-1, in which every byte is a character, so that lengths are right
// whatever stands there.
async function scanLines(file: PositionalReader, thoroughly: boolean): Promise<LogScanPass> {
  let standing = INITIAL_RUN_STATE
  let last = ''
  let end = 0
  for await (const { bytes, end: endOfPiece } of readWholeLines(file, 0)) {
    let at = endOfPiece - bytes.length
    for (const line of bytes.toString('latin1').slice(0, -1).split('\n')) {
      at += line.length + 1
      if (thoroughly && !parseEvent(line)) continue
      if (line.includes('"runner_') || line.includes('"action_required"'))
        standing = applyTransition(standing, line)
      last = line
      end = at
    }
  }
  const event = parseEvent(latin1ToUtf8(last))
  return compact({ standing, last: event, end, damaged: end > 0 && !event })
}

function applyTransition(standing: RunStateInfo, line: string): RunStateInfo {
  const event = parseEvent(latin1ToUtf8(line))
  return (event && applyRunEvent(standing, event)) ?? standing
}

function latin1ToUtf8(line: string): string {
  return Buffer.from(line, 'latin1').toString()
}

const MIN_CHUNK_BYTES = 8 * KIBIBYTE
const MAX_CHUNK_BYTES = 256 * KIBIBYTE
/**
 * No line that a runner writes is longer, as the largest `line_kb` is half of it; whatever is, is
 * damage.
 */
const MAX_LOG_LINE_BYTES = 128 * MEBIBYTE

/**
 * A piece of a file that ends with the end of a line, and where in the file that is. The bytes are
 * good until the next piece is asked for.
 */
type WholeLinesChunk = { readonly bytes: Buffer; readonly end: number }

/** What can be read at any place: an open file. */
type PositionalReader = {
  read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>
}

/**
 * The lines of a file from an offset on, as many at a time as a chunk holds, up to the last that
 * has an end.
 */
export async function* readWholeLines(
  file: PositionalReader,
  from: number,
): AsyncGenerator<WholeLinesChunk> {
  let held = Buffer.alloc(0)
  let chunk = Buffer.allocUnsafe(MIN_CHUNK_BYTES)
  let position = from
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position)
    if (bytesRead === 0) return
    position += bytesRead
    const read = chunk.subarray(0, bytesRead)
    const end = read.lastIndexOf(LINE_FEED) + 1
    if (end > 0) {
      yield {
        bytes:
          held.length === 0 ? read.subarray(0, end) : Buffer.concat([held, read.subarray(0, end)]),
        end: position - bytesRead + end,
      }
      held = Buffer.from(read.subarray(end))
    } else if (held.length + bytesRead <= MAX_LOG_LINE_BYTES) held = Buffer.concat([held, read])
    // The end of this line is still to come, and it is too long to be read.
    else held = Buffer.from('\0')
    // Most records are short; and a long line is not copied for each little piece of it.
    if (
      bytesRead === chunk.length &&
      (chunk.length < MAX_CHUNK_BYTES || chunk.length < held.length)
    )
      chunk = Buffer.allocUnsafe(2 * chunk.length)
  }
}

// Some file systems tell nothing, and a watcher may miss what comes while it is made.
const GROWTH_POLL_MS = 200

type GrowthWatcher = {
  /**
   * True when nothing can come any more: the folder of the file is gone, or the reader wants no
   * more.
   */
  readonly isOver: boolean
  /** Resolves when there may be more. */
  waitForMore(): Promise<void>
  close(): void
}

/** Watches a file, or the place where it will be. */
export function watchFileGrowth(path: string, signal?: AbortSignal): GrowthWatcher {
  const folder = dirname(path)
  let wake: () => void = () => undefined
  let changed = false
  const onChange = (): void => {
    changed = true
    wake()
  }
  // The folder, because the file may appear later, and the lock in it disappears when the run ends.
  const watcher = watchFolder(folder, onChange)
  signal?.addEventListener('abort', onChange)
  return {
    get isOver() {
      return signal?.aborted === true || !existsSync(folder)
    },
    async waitForMore() {
      let timer: NodeJS.Timeout | undefined
      if (!changed)
        await new Promise<void>((resolve) => {
          wake = resolve
          timer = setTimeout(resolve, GROWTH_POLL_MS)
        })
      clearTimeout(timer)
      changed = false
    },
    close() {
      signal?.removeEventListener('abort', onChange)
      watcher?.close()
    },
  }
}
