/**
 * Reads event logs into rows: the ends of a long log at once, a whole log in slices, or a live log
 * as it grows.
 */

import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { isFinished } from '../../protocol/run-state.ts'
import { openRegularFile } from '../../runner/files.ts'
import { isRunLive } from '../../runner/lock.ts'
import { parseEvent, readWholeLines, watchFileGrowth } from '../../runner/log-reader.ts'
import { recoverRun } from '../../runner/recover.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { TimeSlices } from '../../util/async.ts'
import type { RunMetadata, RunRowBuilder } from './run-row.ts'
import { createRunRowBuilder } from './run-row.ts'

const EDGE_BYTES = 16 * 1024
const MAX_TAIL_BYTES = 1024 * 1024
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants
let buffer = Buffer.alloc(EDGE_BYTES)

/** The row of a run, and whether its whole record was read for it. */
type QuickRowRead = { readonly standing: RunRowBuilder; readonly whole: boolean }

/**
 * Where a run stands, from one or two reads: all of a short record, both ends of a long one that is
 * over after one attempt. Undefined where more has to be read. At once, because thousands are read
 * one after the other, and each promise costs more than the file. A record that is no file says
 * nothing.
 */
export function readRowQuickly(paths: RunPaths, facts: RunMetadata): QuickRowRead | undefined {
  const file = openOrUndefined(paths.events)
  if (file === undefined) return { standing: createRunRowBuilder(facts), whole: true }
  try {
    const stats = fstatSync(file)
    const standing = createRunRowBuilder(facts)
    if (!stats.isFile()) return { standing, whole: true }
    const head = readAt(file, 0, Math.min(stats.size, EDGE_BYTES))
    if (stats.size <= EDGE_BYTES) {
      addLines(standing, head.slice(0, head.lastIndexOf('\n') + 1))
      return { standing, whole: true }
    }
    const first = parseEvent(head.slice(0, Math.max(0, head.indexOf('\n'))))
    const tail = readTail(file, stats.size)
    const last =
      tail === undefined
        ? undefined
        : parseEvent(tail.slice(tail.lastIndexOf('\n', tail.length - 2) + 1, -1))
    if (
      first?.type !== 'runner_start' ||
      first.attempt !== 1 ||
      last?.type !== 'runner_end' ||
      last.attempt !== 1
    )
      return undefined
    standing.add(first)
    addLines(standing, tail!)
    return { standing, whole: false }
  } finally {
    closeSync(file)
  }
}

// The last two lines at least, whole: the end, and the result before it.
function readTail(file: number, size: number): string | undefined {
  for (let length = EDGE_BYTES; length <= MAX_TAIL_BYTES; length *= 8) {
    const text = readAt(file, Math.max(0, size - length), Math.min(size, length))
    const end = text.lastIndexOf('\n') + 1
    const start = text.indexOf('\n') + 1
    const lines = text.slice(start, end)
    if (lines.indexOf('\n') < lines.length - 1) return lines
    if (length >= size) return lines
  }
  return undefined
}

function openOrUndefined(path: string): number | undefined {
  try {
    return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch {
    return undefined
  }
}

function readAt(file: number, position: number, length: number): string {
  if (buffer.length < length) buffer = Buffer.alloc(length)
  return buffer.toString('utf8', 0, readSync(file, buffer, 0, length, position))
}

const RELEVANT_TYPES_PATTERN =
  /"(?:runner_(?:start|end|log|error|warning)|action_required|error|result|cancelled|plan|artifact|start)"/g

/**
 * Adds whole lines of a record to where its run stands. A flood must cost little: only lines that
 * change something are parsed, and the last ones.
 */
function addLines(standing: Pick<RunRowBuilder, 'add'>, text: string): void {
  const places = new Set<number>()
  RELEVANT_TYPES_PATTERN.lastIndex = 0
  for (
    let found = RELEVANT_TYPES_PATTERN.exec(text);
    found;
    found = RELEVANT_TYPES_PATTERN.exec(text)
  ) {
    places.add(findLineStart(text, found.index))
    const end = text.indexOf('\n', found.index)
    if (end === -1) break
    RELEVANT_TYPES_PATTERN.lastIndex = end + 1
  }
  for (const place of [text.lastIndexOf('"progress"'), text.lastIndexOf('"log"'), text.length - 2])
    if (place >= 0) places.add(findLineStart(text, place))
  for (const from of [...places].sort((left, right) => left - right)) {
    const end = text.indexOf('\n', from)
    const event = parseEvent(text.slice(from, end === -1 ? undefined : end))
    if (event) standing.add(event)
  }
}

function findLineStart(text: string, place: number): number {
  return place === 0 ? 0 : text.lastIndexOf('\n', place - 1) + 1
}

/**
 * Reads what stands in a record from a place on into where its run stands; gives the place up to
 * which there are whole lines.
 */
export async function readNewLines(
  file: FileHandle,
  from: number,
  standing: Pick<RunRowBuilder, 'add'>,
): Promise<number> {
  const slices = new TimeSlices()
  let end = from
  for await (const piece of readWholeLines(file, from)) {
    addLines(standing, piece.bytes.toString('utf8'))
    end = piece.end
    await slices.rest()
  }
  return end
}

/** Where a run stands, from its whole record. A record that cannot be read says nothing. */
export async function scanRun(paths: RunPaths, facts: RunMetadata): Promise<RunRowBuilder> {
  const standing = createRunRowBuilder(facts)
  const file = await openRegularFile(paths.events).catch(() => undefined)
  if (!file) return standing
  try {
    await readNewLines(file, 0, standing)
  } catch {
    /* what was read counts */
  } finally {
    await file.close()
  }
  return standing
}

// A flood is read at this interval; a single event is read immediately.
const READ_PAUSE_MS = 20
const OWNER_CHECK_MS = 1000

type TailOptions = {
  readonly signal: AbortSignal
  /** Called when something was read. */
  readonly onChange: (standing: RunRowBuilder) => void
  /** Called each time that all that is there was read, be it nothing. */
  readonly onRead: () => void
}

/**
 * Follows a live run, and recovers it when its runner dies. Returns its last row; undefined when
 * its folder is gone.
 */
export async function tailRun(
  paths: RunPaths,
  facts: RunMetadata,
  { signal, onChange, onRead }: TailOptions,
): Promise<RunRowBuilder | undefined> {
  const growth = watchFileGrowth(paths.events, signal)
  let file: FileHandle | undefined
  let standing = createRunRowBuilder(facts)
  let end = 0
  let isOwned = true
  let lookedAt = -Infinity
  const isAtWork = (): boolean => {
    if (!existsSync(paths.lock)) return false
    const now = performance.now()
    if (now - lookedAt < OWNER_CHECK_MS) return isOwned
    lookedAt = now
    return (isOwned = isRunLive(paths))
  }
  const read = async (): Promise<void> => {
    file ??= await openRegularFile(paths.events).catch(() => undefined)
    if (!file) return
    const { size } = await file.stat()
    // The file was truncated: start over.
    if (size < end) [standing, end] = [createRunRowBuilder(facts), 0]
    const before = end
    end = await readNewLines(file, end, standing)
    if (end !== before) onChange(standing)
  }
  try {
    for (;;) {
      // Asked before reading: what was written before it was over is still read.
      const atWork = isAtWork()
      const began = performance.now()
      await read()
      onRead()
      if (signal.aborted || !existsSync(paths.folder)) return signal.aborted ? standing : undefined
      if (!atWork) break
      await growth.waitForMore()
      const rest = READ_PAUSE_MS - (performance.now() - began)
      if (rest > 0) await sleep(rest, undefined, { signal }).catch(() => undefined)
    }
    const { state } = standing.row()
    if (!isFinished(state) || existsSync(paths.lock)) {
      // Another process may be faster, or the disk may be full: it is looked at again.
      await recoverRun(paths).catch(() => undefined)
      await read()
    }
    return standing
  } finally {
    growth.close()
    await file?.close()
  }
}
