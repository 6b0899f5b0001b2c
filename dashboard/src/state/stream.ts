import { batch, signal } from '@preact/signals'
import type { RunEvent } from '../../../src/protocol/run-state.ts'
import type { RunListChanges, StateCounts } from '../../../src/views/model/api.ts'
import { ApiError, get } from './api.ts'
import { serverTime, setServerClock } from './clock.ts'

const FIRST_WAIT = 500
const LONGEST_WAIT = 8000
/** How long a look of a tab that keeps no stream lasts, and how long it waits for the next one. */
const LOOK_MS = 400
const BETWEEN_LOOKS_MS = 2500

/** How the page stands with the server. */
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting')
/** When the server was heard of last, in its own time. */
export const lastNewsAt = signal<number | undefined>(undefined)
/** Why the server does not let the page in, where that is the reason for the silence. */
export const refusal = signal<ApiError | undefined>(undefined)
/** Runs in each state, of all there are. */
export const counts = signal<StateCounts | undefined>(undefined)
/** Questions that wait for an answer. */
export const openQuestions = signal(0)
/** All runs. */
export const total = signal(0)
/** The last change of the list. Use `onRows` to see every change. */
export const newRows = signal<RunListChanges | undefined>(undefined)
/** Grows when the server was restarted: documents are requested again. */
export const resets = signal(0)
/** Grows when news of the list may have been missed, after a restart or between two streams. */
export const gaps = signal(0)

type Hello = {
  readonly epoch: string
  readonly version: number
  readonly now: string
  readonly reset?: true
}
type Follower = {
  readonly run: string
  after: number
  readonly onEvents: (events: readonly RunEvent[]) => void
}

let beginStreaming: () => void
const listeners = new Set<(news: RunListChanges) => void>()
let source: EventSource | undefined
let follower: Follower | undefined
let known: { readonly epoch: string; version: number } | undefined
// The server first says which version its list has, and then sends the changes.
let hasGap = false
let wait = FIRST_WAIT
let timer: ReturnType<typeof setTimeout> | undefined

/**
 * Resolves when the stream tells everything that changes from now on, or cannot: a list that is
 * read then misses nothing.
 */
export const whenStreaming = new Promise<void>((resolve) => (beginStreaming = resolve))

/**
 * Calls a function with each piece of news of the list of runs. Gives the function that ends it.
 */
export function onRows(listener: (news: RunListChanges) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * Follows the events of one run after a seq, through restarts of the server; a page follows one at
 * a time. Gives the function that ends it.
 */
export function followRun(
  run: string,
  after: number,
  onEvents: (events: readonly RunEvent[]) => void,
): () => void {
  const mine: Follower = { run, after, onEvents }
  follower = mine
  reopenSoon(0)
  return () => {
    if (follower !== mine) return
    follower = undefined
    reopenSoon(0)
  }
}

/** Begins to hear of news. */
export function beginStream(): void {
  seekSlot(() => (hasSlot() ? reopenSoon(0) : lookOnly()))
  openStream()
}

/** Opens the one stream of the page. */
function openStream(): void {
  source?.close()
  clearTimeout(timer)
  timer = undefined
  const query = new URLSearchParams()
  if (follower) {
    query.set('run', follower.run)
    query.set('after', String(follower.after))
  }
  // A new stream sends no Last-Event-ID; the seq is that of the run above.
  if (known && known.version > 0) query.set('last', `${known.epoch}.${known.version}.0`)
  const mine = new EventSource(query.size === 0 ? '/api/stream' : `/api/stream?${query}`)
  source = mine
  const on = (name: string, take: (data: unknown) => void): void =>
    mine.addEventListener(name, (message: MessageEvent<string>) => {
      if (source !== mine) return
      batch(() => {
        lastNewsAt.value = serverTime()
        take(JSON.parse(message.data))
        noteVersion(message.lastEventId)
      })
    })
  on('hello', (data) => greet(data as Hello))
  on('rows', (data) => takeRows(data as RunListChanges))
  on('run', (data) =>
    takeEvents(data as { readonly run_id: string; readonly events: readonly RunEvent[] }),
  )
  mine.addEventListener('error', () => {
    if (source !== mine) return
    connection.value = 'lost'
    beginStreaming()
    // After a broken connection the browser tries again by itself; after an answer that is no
    // stream it never does.
    if (mine.readyState === EventSource.CLOSED) void tryAgain()
  })
}

function greet(hello: Hello): void {
  setServerClock(hello.now)
  const before = known
  known = { epoch: hello.epoch, version: hello.version }
  connection.value = 'live'
  refusal.value = undefined
  wait = FIRST_WAIT
  if (!hasSlot()) lookOnly()
  if (!before) return
  const restarted = hello.epoch !== before.epoch
  if (restarted) resets.value += 1
  hasGap = restarted || hello.reset === true || hello.version !== before.version
}

// The id of a message is `<epoch>.<version>.<seq>`.
function noteVersion(id: string): void {
  const version = Number(id.split('.').at(-2))
  if (known && id !== '' && Number.isInteger(version)) known.version = version
}

function takeRows(news: RunListChanges): void {
  counts.value = news.counts
  openQuestions.value = news.open
  total.value = news.total
  newRows.value = news
  for (const listener of listeners) listener(news)
  beginStreaming()
  if (hasGap) gaps.value += 1
  hasGap = false
}

function takeEvents({
  run_id,
  events,
}: {
  readonly run_id: string
  readonly events: readonly RunEvent[]
}): void {
  if (follower?.run !== run_id) return
  const after = follower.after
  const fresh = events.filter(({ seq }) => seq > after)
  if (fresh.length === 0) return
  follower.after = fresh.at(-1)!.seq
  follower.onEvents(fresh)
}

async function tryAgain(): Promise<void> {
  reopenSoon(wait)
  wait = Math.min(LONGEST_WAIT, wait * 2)
  try {
    await get('/about')
    refusal.value = undefined
  } catch (error) {
    refusal.value =
      error instanceof ApiError && (error.status === 401 || error.status === 403)
        ? error
        : undefined
  }
}

// The next look continues where this one stopped.
function lookOnly(): void {
  const mine = source
  setTimeout(() => {
    if (source !== mine || hasSlot()) return
    beginStreaming()
    mine?.close()
    reopenSoon(BETWEEN_LOOKS_MS)
  }, LOOK_MS)
}

function reopenSoon(milliseconds: number): void {
  clearTimeout(timer)
  timer = setTimeout(openStream, milliseconds)
}

// A browser opens six connections to a server for all of its tabs, and a stream keeps one: with one
// per tab, the seventh tab would never load.
const SLOTS = ['toolable-stream-1', 'toolable-stream-2', 'toolable-stream-3']

let hasLock = false
let onSlotChange: () => void = () => undefined

/**
 * Whether this tab may keep a stream open. The others take short looks; the one that somebody turns
 * to takes the place of another.
 */
export function hasSlot(): boolean {
  return hasLock
}

/**
 * Tries to get a place for this tab, and each time that somebody turns to it; calls the function
 * when that changes.
 */
export function seekSlot(onChange: () => void): void {
  onSlotChange = onChange
  document.addEventListener(
    'visibilitychange',
    () => void (document.visibilityState === 'visible' && seek(true)),
  )
  void seek(document.visibilityState === 'visible')
}

async function seek(mayTake: boolean): Promise<void> {
  for (const name of SLOTS) if (!hasLock) await hold(name, { ifAvailable: true })
  if (!hasLock && mayTake)
    await hold(SLOTS[Math.floor(Math.random() * SLOTS.length)]!, { steal: true })
}

// Resolves when it is known whether the place is ours; the place is kept until the tab is closed or
// another takes it.
function hold(name: string, options: LockOptions): Promise<void> {
  return new Promise((known) => {
    const set = (now: boolean): void => {
      known()
      if (hasLock === now) return
      hasLock = now
      onSlotChange()
    }
    void navigator.locks
      .request(name, options, (lock) => {
        if (!lock) return known()
        set(true)
        return new Promise(() => undefined)
      })
      .then(undefined, () => set(false))
  })
}
