import { effect, signal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import { RUN_STATES } from '../../../src/protocol/run-state.ts'
import { matchesRunFilter, parseRunFilter } from '../../../src/views/model/run-filter.ts'
import type { RunFilter } from '../../../src/views/model/run-filter.ts'
import type { RunListChanges, RunPage, RunRow, StateCounts } from '../../../src/views/model/api.ts'
import { ApiError, get } from './api.ts'
import { serverTime } from './clock.ts'
import { addRows, changeRows } from './run-order.ts'
import { gaps, onRows, whenStreaming } from './stream.ts'

const FIRST_PAGE = 100
const NEXT_PAGE = 500
const RECOUNT_AFTER = 1000
const READ_AGAIN_AFTER = 300

/** What is known of a list of runs. */
export type RunListState = {
  /** Newest first; there are more where `next` is set. */
  readonly rows: readonly RunRow[]
  /** Runs that came since, and wait until somebody wants to see them. */
  readonly held: readonly RunRow[]
  readonly counts?: StateCounts
  readonly next?: string
  readonly error?: ApiError
  readonly loading: boolean
}

/** A list of runs that is read page by page, and kept true by the news of the stream. */
export type RunList = {
  readonly state: ReadonlySignal<RunListState>
  /** Reads on until the row at this index is here. */
  loadTo(index: number): void
  /** Puts the new runs into the list. */
  showHeld(): void
  close(): void
}

/**
 * Opens the list of runs that a query means. With `hold`, new runs wait aside, so that nothing
 * jumps under the eyes of the reader.
 */
export function openRunList(
  query: string,
  { hold = false, first = FIRST_PAGE }: { readonly hold?: boolean; readonly first?: number } = {},
): RunList {
  const state = signal<RunListState>({ rows: [], held: [], loading: true })
  const stop = new AbortController()
  // What comes while a page is on its way may be missing in it.
  let waiting: RunListChanges[] | undefined
  let isStale = false
  let wanted = 0
  let reading = false
  let again: ReturnType<typeof setTimeout> | undefined
  let recount: ReturnType<typeof setTimeout> | undefined
  const change = (changes: Partial<RunListState>): void =>
    void (state.value = { ...state.peek(), ...changes })
  const filterNow = (): RunFilter => parseRunFilter(new URLSearchParams(query), serverTime())

  const ask = (limit: number, before?: string): Promise<RunPage> => {
    const asked = new URLSearchParams(query)
    asked.set('limit', String(limit))
    if (before !== undefined) asked.set('before', before)
    return get<RunPage>(`/runs?${asked}`, stop.signal)
  }
  const fail = (error: unknown): void => {
    if (!stop.signal.aborted)
      change({
        loading: false,
        ...(error instanceof ApiError &&
          (error.code !== 'OFFLINE' || !state.peek().counts) && { error }),
      })
  }
  const load = async (): Promise<void> => {
    isStale = waiting !== undefined
    if (waiting) return
    waiting = []
    change({ loading: true })
    try {
      await whenStreaming
      const { rows, counts, next, complete } = await ask(first)
      const { error: _error, next: _next, ...before } = state.peek()
      state.value = {
        ...before,
        rows,
        held: [],
        counts,
        loading: false,
        ...(next !== undefined && { next }),
      }
      if (!complete) again = setTimeout(() => void load(), READ_AGAIN_AFTER)
    } catch (error) {
      fail(error)
    }
    const missed = waiting
    waiting = undefined
    for (const news of missed) take(news)
    void (isStale ? load() : readOn())
  }
  const readOn = async (): Promise<void> => {
    if (reading) return
    reading = true
    try {
      for (
        let { rows, next } = state.peek();
        next !== undefined && rows.length <= wanted && !waiting;
        { rows, next } = state.peek()
      ) {
        const page = await ask(NEXT_PAGE, next)
        // The list may have been read anew meanwhile.
        if (state.peek().next !== next) continue
        const { next: _next, ...rest } = state.peek()
        state.value = {
          ...rest,
          rows: addRows(rest.rows, page.rows),
          ...(page.next !== undefined && { next: page.next }),
        }
      }
    } catch (error) {
      fail(error)
    } finally {
      reading = false
    }
  }
  const take = (news: RunListChanges): void => {
    if (waiting) return void waiting.push(news)
    const { rows, held, next } = state.peek()
    const filter = filterNow()
    const fits = (row: RunRow): boolean => matchesRunFilter(filter, row)
    const [shown, aside] = [changeRows(rows, news, fits), changeRows(held, news, fits)]
    const last = shown.rows.at(-1)
    // What is older than everything that is here comes with the pages.
    const fresh = news.rows.filter(
      (row) =>
        fits(row) &&
        !shown.known.has(row.run_id) &&
        !aside.known.has(row.run_id) &&
        (next === undefined || !last || row.created >= last.created),
    )
    const holds = hold && rows.length > 0
    const isPlain = Object.keys(filter).every((name) => name === 'states')
    change({
      rows: holds ? shown.rows : addRows(shown.rows, fresh),
      held: holds ? addRows(aside.rows, fresh) : aside.rows,
      ...(isPlain && { counts: news.counts }),
    })
    if (!isPlain) recount ??= setTimeout(() => void countAgain(), RECOUNT_AFTER)
  }
  const countAgain = async (): Promise<void> => {
    recount = undefined
    await ask(1).then(
      ({ counts }) => change({ counts }),
      () => undefined,
    )
  }

  const forget = onRows(take)
  const unsubscribe = effect(() => {
    void gaps.value
    void load()
  })
  return {
    state,
    loadTo(index) {
      wanted = index
      void readOn()
    },
    showHeld: () => change({ rows: addRows(state.peek().rows, state.peek().held), held: [] }),
    close() {
      stop.abort()
      forget()
      unsubscribe()
      clearTimeout(again)
      clearTimeout(recount)
    },
  }
}

/** How many runs a list has, the ones that wait aside not counted. */
export function lengthOf({ rows, held, counts, next }: RunListState, query: string): number {
  if (next === undefined || !counts) return rows.length
  const states = parseRunFilter(new URLSearchParams(query), serverTime()).states ?? RUN_STATES
  return Math.max(
    rows.length + 1,
    states.reduce((sum, state) => sum + counts[state], 0) - held.length,
  )
}
