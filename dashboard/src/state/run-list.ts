import type { ReadonlySignal } from '@preact/signals'
import { effect, signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { RUN_STATES } from '../../../src/protocol/run-state.ts'
import { compact } from '../../../src/util/values.ts'
import type { RunListChanges, RunPage, RunRow, StateCounts } from '../../../src/views/model/api.ts'
import type { RunFilter } from '../../../src/views/model/run-filter.ts'
import { matchesRunFilter, parseRunFilter } from '../../../src/views/model/run-filter.ts'
import { ApiError, get } from './api.ts'
import { serverTime } from './clock.ts'
import { gaps, onRows, whenStreaming } from './stream.ts'

const FIRST_PAGE = 100
const NEXT_PAGE = 500
const RECOUNT_AFTER = 1000
const READ_AGAIN_AFTER = 300

/** What is known of a list of runs. */
export type RunListState = {
  /** Newest first; there are more where `next` is set. */
  readonly rows: readonly RunRow[]
  /** New runs, held back until the user asks for them. */
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
    if (stop.signal.aborted) return
    change({ loading: false })
    // A server that is away for a moment takes nothing away that was seen.
    if (error instanceof ApiError && (error.code !== 'OFFLINE' || !state.peek().counts))
      change({ error })
  }
  const load = async (): Promise<void> => {
    isStale = waiting !== undefined
    if (waiting) return
    waiting = []
    change({ loading: true })
    try {
      await whenStreaming
      const { rows, counts, next, complete } = await ask(first)
      state.value = compact({ rows, held: [], counts, loading: false, next })
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
        // The list may have been reloaded in the meantime.
        if (state.peek().next !== next) continue
        const before = state.peek()
        state.value = compact({ ...before, rows: addRows(before.rows, page.rows), next: page.next })
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
    })
    if (isPlain) change({ counts: news.counts })
    else recount ??= setTimeout(() => void countAgain(), RECOUNT_AFTER)
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
export function getListLength({ rows, held, counts, next }: RunListState, query: string): number {
  if (next === undefined || !counts) return rows.length
  const states = parseRunFilter(new URLSearchParams(query), serverTime()).states ?? RUN_STATES
  return Math.max(
    rows.length + 1,
    states.reduce((sum, state) => sum + counts[state], 0) - held.length,
  )
}

const NOTHING: RunListState = { rows: [], held: [], loading: true }

/** The runs that a query means, kept true as long as the screen is shown. */
export function useRunList(query: string, options: { readonly first?: number } = {}): RunListState {
  const [list, setList] = useState<RunList>()
  useEffect(() => {
    const mine = openRunList(query, options)
    setList(mine)
    return () => mine.close()
  }, [query])
  return list?.state.value ?? NOTHING
}

/** Rows with others put in at their place, newest first; who is there already stays as it is. */
export function addRows(rows: readonly RunRow[], more: readonly RunRow[]): readonly RunRow[] {
  if (more.length === 0) return rows
  const known = new Set(rows.map(({ run_id }) => run_id))
  const fresh = more.filter(({ run_id }) => !known.has(run_id))
  return fresh.length === 0 ? rows : [...rows, ...fresh].sort(newestFirst)
}

/**
 * Rows after some news: changed, and without those that are gone or do not fit any more. `known`
 * are all that were there.
 */
export function changeRows(
  rows: readonly RunRow[],
  news: RunListChanges,
  fits: (row: RunRow) => boolean,
): { readonly rows: readonly RunRow[]; readonly known: ReadonlySet<string> } {
  const known = new Set(rows.map(({ run_id }) => run_id))
  const changed = new Map(
    news.rows.filter(({ run_id }) => known.has(run_id)).map((row) => [row.run_id, row]),
  )
  const removed = new Set(news.removed.filter((id) => known.has(id)))
  if (changed.size === 0 && removed.size === 0) return { rows, known }
  return {
    known,
    rows: rows.flatMap((row) => {
      const next = changed.get(row.run_id) ?? row
      return removed.has(row.run_id) || (next !== row && !fits(next)) ? [] : [next]
    }),
  }
}

function newestFirst(left: RunRow, right: RunRow): number {
  if (left.created !== right.created) return left.created < right.created ? 1 : -1
  return left.run_id < right.run_id ? 1 : -1
}
