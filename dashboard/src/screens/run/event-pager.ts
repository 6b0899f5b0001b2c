import type { JsonObject } from '../../../../src/util/values.ts'
import type { EventPage } from '../../../../src/views/model/api.ts'

const PAGE = 500
const LARGEST_PAGE = 1000
const MOST_PAGES = 60
const GROWTH_PAUSE_MS = 200

/** Events of a run by their place in a list that may be far longer than what is in memory. */
export type EventPager = {
  /** How many there are. */
  readonly count: number
  /** One of them; undefined while it is not here. */
  at(index: number): JsonObject | undefined
  /** Brings the ones in sight. */
  need(first: number, last: number): void
  /** Adds new events of a live run. */
  add(events: readonly JsonObject[]): void
  readonly error: unknown
}

type Ask = (query: { readonly [name: string]: string }) => Promise<EventPage>

/**
 * All events of a run: the number of an event is its place, so that any part of the list can be
 * asked for.
 */
export function pageAll(ask: Ask, total: number, changed: () => void): EventPager {
  const pages = new Map<number, JsonObject[]>()
  const asked = new Set<number>()
  let count = total
  let error: unknown
  const load = async (page: number): Promise<void> => {
    asked.add(page)
    try {
      const { events, total: known } = await ask({
        from: String(page * PAGE + 1),
        limit: String(PAGE),
      })
      const here = pages.get(page)
      // Meanwhile the stream may have brought more than the answer has.
      if (!here || here.length <= events.length) pages.set(page, [...events])
      count = Math.max(count, known)
      error = undefined
    } catch (thrown) {
      error = thrown
    }
    asked.delete(page)
    changed()
  }
  return {
    get count() {
      return count
    },
    get error() {
      return error
    },
    at: (index) => pages.get(Math.floor(index / PAGE))?.[index % PAGE],
    need(first, last) {
      const [from, to] = [Math.floor(first / PAGE), Math.floor(Math.min(last, count - 1) / PAGE)]
      for (let page = from; page <= to; page += 1) {
        const here = pages.get(page)
        if (!asked.has(page) && (here?.length ?? 0) < Math.min(PAGE, count - page * PAGE))
          void load(page)
      }
      for (const page of pages.keys())
        if (pages.size > MOST_PAGES && (page < from - 1 || page > to + 1)) pages.delete(page)
    },
    add(events) {
      for (const event of events) {
        const index = Number(event['seq']) - 1
        const [page, place] = [Math.floor(index / PAGE), index % PAGE]
        if (place === 0 && !pages.has(page)) pages.set(page, [event])
        else if (pages.get(page)?.length === place) pages.get(page)!.push(event)
        count = Math.max(count, index + 1)
      }
      changed()
    },
  }
}

/**
 * Events that fit a filter: known from both ends, because only their number is known in advance,
 * not which they are.
 */
export function pageSome(ask: Ask, changed: () => void): EventPager {
  // The first and the last ones of all that fit up to the event `seen`.
  let head: JsonObject[] = []
  let tail: JsonObject[] = []
  let count = 0
  let seen = 0
  let busy = false
  let grown = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let wanted: readonly [number, number] = [0, 0]
  let error: unknown
  const load = async (
    query: { readonly [name: string]: string },
    take: (page: EventPage) => void,
  ): Promise<void> => {
    busy = true
    try {
      take(await ask({ ...query, limit: String(LARGEST_PAGE) }))
      error = undefined
    } catch (thrown) {
      error = thrown
    }
    busy = false
    if (grown) catchUp()
    // What is in sight may still be further in.
    else if (error === undefined) need(...wanted)
    changed()
  }
  const catchUp = (): void => {
    grown = true
    timer ??= setTimeout(() => {
      timer = undefined
      if (busy) return
      grown = false
      void load({ from: String(seen + 1) }, ({ events, total, next }) => {
        if (head.length + tail.length < count || tail.length > 0) tail = [...tail, ...events]
        else head = [...head, ...events]
        count += events.length
        seen = next === undefined ? Math.max(seen, total) : getSeq(events.at(-1))
        grown ||= next !== undefined
      })
    }, GROWTH_PAUSE_MS)
  }
  const need = (first: number, last: number): void => {
    wanted = [first, last]
    const gapEnd = count - tail.length
    if (busy || head.length >= gapEnd || last < head.length || first >= gapEnd) return
    if (first - head.length <= gapEnd - last) {
      const bound = tail[0] ? getSeq(tail[0]) : seen + 1
      void load({ from: String(getSeq(head.at(-1)) + 1) }, ({ events }) => {
        head = [...head, ...events.filter((event) => getSeq(event) < bound)]
      })
    } else
      void load({ before: String(tail[0] ? getSeq(tail[0]) : seen + 1) }, ({ events }) => {
        tail = [...events.filter((event) => getSeq(event) > getSeq(head.at(-1))), ...tail]
      })
  }
  void load({ from: '1' }, ({ events, matching, total }) => {
    head = [...events]
    count = matching
    seen = total
  })
  return {
    get count() {
      return count
    },
    get error() {
      return error
    },
    at: (index) => head[index] ?? tail[index - (count - tail.length)],
    need,
    add: catchUp,
  }
}

function getSeq(event: JsonObject | undefined): number {
  return Number(event?.['seq'] ?? 0)
}
