import { ToolError } from '../../../../contract/tool-error.ts'
import type { RunEvent } from '../../../../contract/run-state.ts'
import { openOrdinary } from '../../../../runner/log/open-ordinary.ts'
import type { EventPage } from '../../../model/wire/run-detail.ts'
import { keepRecent } from '../recent.ts'
import type { EventFilter } from './event-filter.ts'
import { findEvents } from './found-events.ts'
import type { FoundEvents } from './found-events.ts'
import { createLineIndex } from './line-index.ts'
import type { LineIndex } from './line-index.ts'
import { bound, readFound, readFrom } from './read-page.ts'

/** What of a record is wanted: `limit` events from `from` on, or the last ones before `before`. */
export type Wanted = {
  readonly from: number
  readonly before?: number
  readonly limit: number
  readonly filter?: EventFilter
}

/** Pages of the records of runs. What was learnt of the last few is remembered, so that any place of a long one is found quickly. */
export type RunEvents = {
  page(path: string, wanted: Wanted): Promise<EventPage>
  /** Where to begin to read a record in which a number is wanted. */
  placeOf(path: string, seq: number): Promise<number>
  /** Pages of events that stand in no file. */
  pageOf(events: readonly RunEvent[], wanted: Wanted): EventPage
  /** The lines of a text file. */
  lines(path: string): LineIndex
}

const MOST_FILES = 16
const MOST_FILTERS = 4
const DEFAULT_LIMIT = 200
const MOST_EVENTS = 1000

/** Remembers nothing yet. */
export function openRunEvents(): RunEvents {
  const indexes = keepRecent<LineIndex>(MOST_FILES)
  const filtered = keepRecent<FoundEvents>(MOST_FILTERS)
  const indexOf = (path: string): LineIndex => indexes.get(path, () => createLineIndex(path))

  const plainPage = async (path: string, { from, before, limit }: Wanted): Promise<EventPage> => {
    const index = indexOf(path)
    const { seq: total } = await index.catchUp()
    const last = Math.min(total, before === undefined ? total : before - 1)
    const first = before === undefined ? from : Math.max(1, last - limit + 1)
    const most = Math.min(limit, last - first + 1)
    const file = most > 0 ? await openOrdinary(path) : undefined
    if (!file)
      return {
        events: [],
        matching: total,
        total,
        ...(before !== undefined && before <= total && { next: Math.max(1, before) }),
      }
    try {
      const { events } = await readFrom(file, index.beforeEvent(first), first, most)
      const next = ((events.at(-1)?.['seq'] as number | undefined) ?? last) + 1
      return { events, matching: total, total, ...(next <= total && { next }) }
    } finally {
      await file.close()
    }
  }
  const filteredPage = async (
    path: string,
    { from, before, limit, filter }: Wanted & { readonly filter: EventFilter },
  ): Promise<EventPage> => {
    const found = filtered.get(`${path}\n${filter.key}`, () => findEvents(path, filter))
    await found.catchUp()
    const { seq: total } = await indexOf(path).catchUp()
    const end = before === undefined ? found.count : found.placeOf(before)
    const first = before === undefined ? found.placeOf(from) : Math.max(0, end - limit)
    const to = Math.min(end, first + limit)
    const file = first < to ? await openOrdinary(path) : undefined
    const { events } = file
      ? await readFound(file, found, first, to).finally(() => file.close())
      : { events: [] }
    const next = first + events.length
    return {
      events,
      matching: found.count,
      total,
      ...(next < found.count && { next: found.at(next).seq }),
    }
  }
  return {
    page: (path, wanted) =>
      wanted.filter
        ? filteredPage(path, { ...wanted, filter: wanted.filter })
        : plainPage(path, wanted),
    async placeOf(path, seq) {
      const index = indexOf(path)
      await index.catchUp()
      return index.beforeEvent(seq)
    },
    pageOf(all, { from, before, limit, filter }) {
      const fitting = filter
        ? all.filter((event) => filter.mayFit(JSON.stringify(event)) && filter.fits(event))
        : all
      const end =
        before === undefined ? fitting.length : fitting.filter(({ seq }) => seq < before).length
      const first =
        before === undefined
          ? fitting.filter(({ seq }) => seq < from).length
          : Math.max(0, end - limit)
      const next = fitting[Math.min(end, first + limit)]
      return {
        events: fitting.slice(first, Math.min(end, first + limit)).map((event) => bound(event, 0)),
        matching: fitting.length,
        total: all.length,
        ...(next && { next: next.seq }),
      }
    },
    lines: (path) => indexOf(path),
  }
}

/** Reads `from`, `before` and `limit` from the query of an address. Throws INVALID_INPUT. */
export function readWanted(query: URLSearchParams, filter: EventFilter | undefined): Wanted {
  const before = numberIn(query, 'before', Number.MAX_SAFE_INTEGER)
  return {
    from: Math.max(1, numberIn(query, 'from', Number.MAX_SAFE_INTEGER) ?? 1),
    limit: Math.max(1, numberIn(query, 'limit', MOST_EVENTS) ?? DEFAULT_LIMIT),
    ...(before !== undefined && { before }),
    ...(filter && { filter }),
  }
}

/** A whole number of a query, at most so large; undefined where it is not given. Throws INVALID_INPUT. */
export function numberIn(query: URLSearchParams, name: string, most: number): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  const value = Number(text)
  if (!Number.isSafeInteger(value))
    throw new ToolError('INVALID_INPUT', `${name} is a whole number; got '${text.slice(0, 60)}'`, {
      field: name,
    })
  return Math.min(value, most)
}
