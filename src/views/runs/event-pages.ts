/**
 * Pages of the events and log lines of a run, and new events as they come.
 */

import type { FileHandle } from 'node:fs/promises'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { RunEvent } from '../../protocol/run-state.ts'
import { EVENT_ENVELOPE_FIELDS } from '../../protocol/run-state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { openRegularFile } from '../../runner/files.ts'
import { parseEvent, readWholeLines, watchFileGrowth } from '../../runner/log-reader.ts'
import { RecentCache } from '../../util/async.ts'
import { LINE_FEED } from '../../util/files.ts'
import { KIBIBYTE, MEBIBYTE } from '../../util/units.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { EventPage, LogPage } from '../model/api.ts'
import type { EventFilter, EventMatches, LineIndex } from './event-index.ts'
import { createEventMatches, createLineIndex } from './event-index.ts'

/** What of a record is wanted: `limit` events from `from` on, or the last ones before `before`. */
type EventPageRequest = {
  readonly from: number
  readonly before?: number
  readonly limit: number
  readonly filter?: EventFilter
}

/**
 * Pages of the records of runs. What was learnt of the last few is remembered, so that any place of
 * a long one is found quickly.
 */
type EventPager = {
  page(path: string, wanted: EventPageRequest): Promise<EventPage>
  /** Where to begin to read a record in which a number is wanted. */
  findPlace(path: string, seq: number): Promise<number>
  /** Pages of events that stand in no file. */
  pageEvents(events: readonly RunEvent[], wanted: EventPageRequest): EventPage
  /** The lines of a text file. */
  lines(path: string): LineIndex
}

const MAX_FILES = 16
const MAX_FILTERS = 4
const DEFAULT_PAGE_SIZE = 200
const MAX_PAGE_SIZE = 1000

/** Remembers nothing yet. */
export function createEventPager(): EventPager {
  const indexes = new RecentCache<LineIndex>(MAX_FILES)
  const filtered = new RecentCache<EventMatches>(MAX_FILTERS)
  const indexOf = (path: string): LineIndex => indexes.get(path, () => createLineIndex(path))

  const plainPage = async (
    path: string,
    { from, before, limit }: EventPageRequest,
  ): Promise<EventPage> => {
    const index = indexOf(path)
    const { seq: total } = await index.catchUp()
    const last = Math.min(total, before === undefined ? total : before - 1)
    const first = before === undefined ? from : Math.max(1, last - limit + 1)
    const most = Math.min(limit, last - first + 1)
    const file = most > 0 ? await openRegularFile(path) : undefined
    if (!file)
      return compact({
        events: [],
        matching: total,
        total,
        next: before !== undefined && before <= total ? Math.max(1, before) : undefined,
      })
    try {
      const events = await readEventsFrom(file, index.beforeEvent(first), first, most)
      const next = ((events.at(-1)?.['seq'] as number | undefined) ?? last) + 1
      return compact({ events, matching: total, total, next: next <= total ? next : undefined })
    } finally {
      await file.close()
    }
  }
  const filteredPage = async (
    path: string,
    { from, before, limit, filter }: EventPageRequest & { readonly filter: EventFilter },
  ): Promise<EventPage> => {
    const found = filtered.get(`${path}\n${filter.key}`, () => createEventMatches(path, filter))
    await found.catchUp()
    const { seq: total } = await indexOf(path).catchUp()
    const end = before === undefined ? found.count : found.findPlace(before)
    const first = before === undefined ? found.findPlace(from) : Math.max(0, end - limit)
    const to = Math.min(end, first + limit)
    const file = first < to ? await openRegularFile(path) : undefined
    const events = file ? await readMatches(file, found, first, to).finally(() => file.close()) : []
    const next = first + events.length
    return compact({
      events,
      matching: found.count,
      total,
      next: next < found.count ? found.at(next).seq : undefined,
    })
  }
  return {
    page: (path, wanted) =>
      wanted.filter
        ? filteredPage(path, { ...wanted, filter: wanted.filter })
        : plainPage(path, wanted),
    async findPlace(path, seq) {
      const index = indexOf(path)
      await index.catchUp()
      return index.beforeEvent(seq)
    },
    pageEvents(all, { from, before, limit, filter }) {
      const fitting = filter
        ? all.filter((event) => filter.mayFit(JSON.stringify(event)) && filter.fits(event))
        : all
      const end =
        before === undefined ? fitting.length : fitting.filter(({ seq }) => seq < before).length
      const first =
        before === undefined
          ? fitting.filter(({ seq }) => seq < from).length
          : Math.max(0, end - limit)
      const to = Math.min(end, first + limit)
      return compact({
        events: fitting.slice(first, to),
        matching: fitting.length,
        total: all.length,
        next: fitting[to]?.seq,
      })
    },
    lines: (path) => indexOf(path),
  }
}

/** Reads `from`, `before` and `limit` from the query of an address. Throws INVALID_INPUT. */
export function parsePageRequest(
  query: URLSearchParams,
  filter: EventFilter | undefined,
): EventPageRequest {
  const before = parseNumberParam(query, 'before', Number.MAX_SAFE_INTEGER)
  return compact({
    from: Math.max(1, parseNumberParam(query, 'from', Number.MAX_SAFE_INTEGER) ?? 1),
    limit: Math.max(1, parseNumberParam(query, 'limit', MAX_PAGE_SIZE) ?? DEFAULT_PAGE_SIZE),
    before,
    filter,
  })
}

/**
 * A whole number of a query, at most so large; undefined where it is not given. Throws
 * INVALID_INPUT.
 */
export function parseNumberParam(
  query: URLSearchParams,
  name: string,
  most: number,
): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  const value = Number(text)
  if (!Number.isSafeInteger(value))
    throw new ToolError('INVALID_INPUT', `${name} is a whole number; got '${text.slice(0, 60)}'`, {
      field: name,
    })
  return Math.min(value, most)
}

const MAX_PAGE_CHARS = 4 * MEBIBYTE
const MAX_EVENT_CHARS = 256 * KIBIBYTE
const MAX_GAP_BYTES = 32 * KIBIBYTE
const MAX_READ_BYTES = MEBIBYTE
/** What is shown of an event that is too large. */
const KEPT_FIELDS = [...EVENT_ENVELOPE_FIELDS, 'level', 'step', 'state', 'code', 'rc']

/** The events from a number on, at most so many, read from a place at or before the first. */
async function readEventsFrom(
  file: FileHandle,
  offset: number,
  from: number,
  limit: number,
): Promise<readonly JsonObject[]> {
  const events: JsonObject[] = []
  let room = MAX_PAGE_CHARS
  for await (const { bytes } of readWholeLines(file, offset)) {
    for (const line of bytes.toString('utf8').slice(0, -1).split('\n')) {
      const event = parseEvent(line)
      if (!event || event.seq < from) continue
      room -= line.length
      if (room < 0 && events.length > 0) return events
      events.push(limitEvent(event, line.length))
      if (events.length === limit) return events
    }
  }
  return events
}

/** Some of the events that were found, those between two places of their list. */
async function readMatches(
  file: FileHandle,
  found: EventMatches,
  from: number,
  to: number,
): Promise<readonly JsonObject[]> {
  const events: JsonObject[] = []
  let room = MAX_PAGE_CHARS
  for (let place = from; place < to;) {
    // Those that stand close together are read together.
    const first = found.at(place)
    let last = place
    let end = first.offset + first.length
    while (
      last + 1 < to &&
      found.at(last + 1).offset - end <= MAX_GAP_BYTES &&
      found.at(last + 1).offset + found.at(last + 1).length - first.offset <= MAX_READ_BYTES
    ) {
      last += 1
      end = found.at(last).offset + found.at(last).length
    }
    const { buffer } = await file.read(
      Buffer.alloc(end - first.offset),
      0,
      end - first.offset,
      first.offset,
    )
    for (; place <= last; place += 1) {
      const { offset, length } = found.at(place)
      const event = parseEvent(
        buffer.toString('utf8', offset - first.offset, offset - first.offset + length),
      )
      room -= length
      if (room < 0 && events.length > 0) return events
      if (event) events.push(limitEvent(event, length))
    }
  }
  return events
}

/** An event as a page can bear it: of one that is far too large only what it is. */
function limitEvent(event: RunEvent, length: number): JsonObject {
  if (length <= MAX_EVENT_CHARS) return event
  return {
    ...Object.fromEntries(
      KEPT_FIELDS.flatMap((name) => (Object.hasOwn(event, name) ? [[name, event[name]]] : [])),
    ),
    msg: `this event has ${length} characters, too many to be shown`,
    too_large: length,
  }
}

// Events of a burst are sent together; a single event is sent immediately.
const BATCH_PAUSE_MS = 15
const MAX_BATCH_EVENTS = 1000

/**
 * The events of a record after a number, as they come, until the signal, or until the folder is
 * gone. Nothing is read before whoever listens has taken what came before. `offset` is a place at
 * or before the first.
 */
export async function* followEvents(
  path: string,
  {
    after,
    offset,
    signal,
    onGrowth,
  }: {
    readonly after: number
    readonly offset: number
    readonly signal: AbortSignal
    /** Called when something of the folder has changed. */ readonly onGrowth?: () => void
  },
): AsyncGenerator<readonly RunEvent[]> {
  const growth = watchFileGrowth(path, signal)
  let file: FileHandle | undefined
  let end = offset
  let seen = after
  try {
    for (;;) {
      const began = performance.now()
      file ??= await openRegularFile(path)
      if (file && (await file.stat()).size < end) end = 0
      for await (const piece of file ? readWholeLines(file, end) : []) {
        const events: RunEvent[] = []
        for (const line of piece.bytes.toString('utf8').slice(0, -1).split('\n')) {
          const event = parseEvent(line)
          if (!event || event.seq <= seen) continue
          seen = event.seq
          events.push(limitEvent(event, line.length) as unknown as RunEvent)
        }
        end = piece.end
        for (let at = 0; at < events.length; at += MAX_BATCH_EVENTS) {
          yield events.slice(at, at + MAX_BATCH_EVENTS)
          if (signal.aborted) return
          await nextTurn()
        }
      }
      if (growth.isOver) return
      await growth.waitForMore()
      onGrowth?.()
      const rest = BATCH_PAUSE_MS - (performance.now() - began)
      if (rest > 0) await sleep(rest, undefined, { signal }).catch(() => undefined)
    }
  } finally {
    growth.close()
    await file?.close()
  }
}

const MAX_LINE_BYTES = 16 * KIBIBYTE

/**
 * Lines of a text file, from a number on; a negative one counts from the end. Long lines are cut,
 * and what stands behind the last line feed counts as a line. A file that is not there has none.
 */
export async function readLogPage(
  path: string,
  index: LineIndex,
  from: number,
  limit: number,
): Promise<LogPage> {
  const { lines, end } = await index.catchUp()
  const file = await openRegularFile(path)
  if (!file) return { lines: [], first: 1, total: 0 }
  const shown: string[] = []
  let cut = 0
  const show = (bytes: Buffer, size: number): void => {
    shown.push(bytes.toString('utf8', 0, Math.min(bytes.length, MAX_LINE_BYTES)).replace(/\r$/, ''))
    cut += Math.max(0, size - MAX_LINE_BYTES)
  }
  try {
    const { size } = await file.stat()
    const total = lines + (size > end ? 1 : 0)
    const first = Math.max(1, from < 0 ? total + from + 1 : from)
    const { line: known, offset } = index.before(first)
    let line = known
    for await (const { bytes } of first <= lines ? readWholeLines(file, offset) : []) {
      for (let at = 0; at < bytes.length && line <= lines && shown.length < limit; line += 1) {
        const to = bytes.indexOf(LINE_FEED, at)
        if (line >= first) show(bytes.subarray(at, to), to - at)
        at = to + 1
      }
      if (line > lines || shown.length >= limit) break
    }
    if (size > end && shown.length < limit && first <= total) {
      const { buffer, bytesRead } = await file.read(
        Buffer.alloc(MAX_LINE_BYTES),
        0,
        MAX_LINE_BYTES,
        end,
      )
      show(buffer.subarray(0, bytesRead), size - end)
    }
    return compact({ lines: shown, first, total, cut: cut > 0 ? cut : undefined })
  } finally {
    await file.close()
  }
}
