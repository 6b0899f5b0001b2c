/**
 * Indexes over growing log files: where lines begin, and which events match a filter. Every line is
 * read once.
 */

import type { FileHandle } from 'node:fs/promises'
import type { RunEvent } from '../../protocol/run-state.ts'
import { openRegularFile } from '../../runner/files.ts'
import { parseEvent, readWholeLines } from '../../runner/log-reader.ts'
import { SerialQueue, TimeSlices } from '../../util/async.ts'
import { LINE_FEED } from '../../util/files.ts'
import { isObject } from '../../util/values.ts'
import { parseList, parseRunFilter } from '../model/run-filter.ts'

const INDEX_INTERVAL = 500

/** Where in a file of lines some of them begin, so that any of them is found by reading a few. */
export type LineIndex = {
  /** Learns what came since. */
  catchUp(): Promise<{
    readonly lines: number
    /** The number of the last event, in a record. */ readonly seq: number
    readonly end: number
  }>
  /** A place at or before a line, and which line begins there, from 1. */
  before(line: number): { readonly line: number; readonly offset: number }
  /** The same for an event of a record. */
  beforeEvent(seq: number): number
}

/** Begins to know a file. */
export function createLineIndex(path: string): LineIndex {
  // The first of each few hundred lines: its place, and its event where it is one.
  let offsets: number[] = []
  let seqs: number[] = []
  let lines = 0
  let seq = 0
  const file = openGrowingFile(path, {
    forget() {
      ;[offsets, seqs, lines, seq] = [[], [], 0, 0]
    },
    take(bytes, from) {
      for (let at = 0; at < bytes.length; lines += 1) {
        const next = bytes.indexOf(LINE_FEED, at) + 1
        if (lines % INDEX_INTERVAL === 0) {
          offsets.push(from + at)
          seqs.push(parseSeq(bytes, at, next) ?? seqs.at(-1) ?? 0)
        }
        at = next
      }
      seq = parseSeq(bytes, bytes.lastIndexOf(LINE_FEED, bytes.length - 2) + 1, bytes.length) ?? seq
    },
  })
  return {
    async catchUp() {
      const end = await file.catchUp()
      return { lines, seq, end }
    },
    before(line) {
      const place = Math.max(
        0,
        Math.min(offsets.length - 1, Math.floor((line - 1) / INDEX_INTERVAL)),
      )
      return { line: place * INDEX_INTERVAL + 1, offset: offsets[place] ?? 0 }
    },
    beforeEvent(wanted) {
      const after = findBoundary(seqs.length, (place) => seqs[place]! <= wanted)
      return offsets[Math.max(0, after - 1)] ?? 0
    },
  }
}

/** The first place of a sorted list that does not come before what is looked for. */
export function findBoundary(length: number, isBefore: (place: number) => boolean): number {
  let [from, to] = [0, length]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (isBefore(middle)) from = middle + 1
    else to = middle
  }
  return from
}

function parseSeq(bytes: Buffer, from: number, to: number): number | undefined {
  return parseEvent(bytes.toString('utf8', from, to - 1))?.seq
}

const MAX_MATCHES = 500_000

/** Where the events of a record are that fit a filter. */
export type EventMatches = {
  catchUp(): Promise<void>
  readonly count: number
  /** The place in the list of the first that has this number or a higher one. */
  findPlace(seq: number): number
  /** One of the list. */
  at(place: number): { readonly seq: number; readonly offset: number; readonly length: number }
}

/** Begins to look for events; each line is looked at once. */
export function createEventMatches(path: string, filter: EventFilter): EventMatches {
  let seqs: number[] = []
  let offsets: number[] = []
  let lengths: number[] = []
  const file = openGrowingFile(path, {
    forget: () => {
      ;[seqs, offsets, lengths] = [[], [], []]
    },
    async take(bytes, from) {
      const slices = new TimeSlices()
      for (let at = 0; at < bytes.length && seqs.length < MAX_MATCHES;) {
        const to = bytes.indexOf(LINE_FEED, at)
        const line = bytes.toString('utf8', at, to)
        const event = filter.mayFit(line) ? parseEvent(line) : undefined
        if (event && filter.fits(event)) {
          seqs.push(event.seq)
          offsets.push(from + at)
          lengths.push(to - at)
        }
        at = to + 1
        if (slices.isUsed) await slices.rest()
      }
    },
  })
  return {
    async catchUp() {
      await file.catchUp()
    },
    get count() {
      return seqs.length
    },
    findPlace: (wanted) => findBoundary(seqs.length, (place) => seqs[place]! < wanted),
    at: (place) => ({ seq: seqs[place]!, offset: offsets[place]!, length: lengths[place]! }),
  }
}

/** Which events of a run to show. */
export type EventFilter = {
  /** The same for the same filter. */
  readonly key: string
  /** Whether a line may hold one, which costs less than to read it. */
  mayFit(line: string): boolean
  fits(event: RunEvent): boolean
}

const LEVEL_BY_TYPE: { readonly [type: string]: string } = {
  error: 'error',
  runner_error: 'error',
  task_error: 'error',
  runner_warning: 'warn',
  diagnostic: 'warn',
}

/**
 * Reads a filter from the query of an address: `type`, `level` (several each), `step`, `text`,
 * `since`, `until`. Undefined where everything is wanted.
 */
export function parseEventFilter(query: URLSearchParams, now: number): EventFilter | undefined {
  const [types, levels] = [parseList(query, 'type'), parseList(query, 'level')]
  const step = query.get('step') ?? ''
  // To the minute, so that `2h` means the same for a while, and what was found is not looked for
  // again.
  const { since, until, words = [] } = parseRunFilter(query, Math.floor(now / 60_000) * 60_000)
  if (
    types.length + levels.length + words.length === 0 &&
    step === '' &&
    since === undefined &&
    until === undefined
  )
    return undefined
  // As JSON writes them.
  const written = words.map((word) => JSON.stringify(word).slice(1, -1))
  return {
    key: JSON.stringify([types, levels, step, words, since, until]),
    mayFit(line) {
      if (types.length > 0 && !types.some((type) => line.includes(`"${type}"`))) return false
      if (words.length === 0) return true
      const small = line.toLowerCase()
      return words.every((word, index) => small.includes(word) || small.includes(written[index]!))
    },
    fits(event) {
      if (types.length > 0 && !types.includes(event.type)) return false
      if (levels.length > 0 && !levels.includes(getLevel(event))) return false
      if (step !== '' && !belongsToStep(event, step)) return false
      if (since === undefined && until === undefined) return true
      const at = Date.parse(event.ts)
      return at >= (since ?? -Infinity) && at <= (until ?? Infinity)
    },
  }
}

/** How grave an event is: what it says itself, else what its type says. */
function getLevel(event: RunEvent): string {
  return typeof event['level'] === 'string' && event.type !== 'runner_start'
    ? event['level']
    : (LEVEL_BY_TYPE[event.type] ?? 'info')
}

// A step and what is inside it; tasks are named after their step and try.
function belongsToStep(event: RunEvent, step: string): boolean {
  const { interaction } = event
  return [
    event['step'],
    event['task_id'],
    isObject(interaction) ? interaction['key'] : undefined,
  ].some((named) => {
    if (typeof named !== 'string') return false
    const path = named.split('#')[0]!
    return path === step || path.startsWith(`${step}/`)
  })
}

/** Who learns what a file of lines holds, piece by piece. */
type LineConsumer = {
  /** Whole lines, and where the first of them begins. */
  take(bytes: Buffer, from: number): void | Promise<void>
  /** The file is another one than before: nothing that was taken counts. */
  forget(): void
}

/** A file that grows, of which every line is read once. */
type GrowingFile = {
  /**
   * Reads what came since; gives the place behind the last whole line. A file that is not there is
   * empty.
   */
  catchUp(): Promise<number>
}

/** Begins at the beginning of a file; nothing is read before it is asked for. */
export function openGrowingFile(path: string, reader: LineConsumer): GrowingFile {
  let end = 0
  let inode: number | undefined
  const readFrom = async (file: FileHandle): Promise<void> => {
    const { size, ino } = await file.stat()
    if (size < end || (inode !== undefined && ino !== inode)) {
      reader.forget()
      end = 0
    }
    inode = ino
    const slices = new TimeSlices()
    for await (const piece of readWholeLines(file, end)) {
      await reader.take(piece.bytes, piece.end - piece.bytes.length)
      end = piece.end
      await slices.rest()
    }
  }
  const queue = new SerialQueue()
  const catchUp = async (): Promise<number> => {
    const file = await openRegularFile(path)
    if (!file) {
      reader.forget()
      inode = undefined
      return (end = 0)
    }
    try {
      await readFrom(file)
      return end
    } finally {
      await file.close()
    }
  }
  return { catchUp: () => queue.run(catchUp) }
}
