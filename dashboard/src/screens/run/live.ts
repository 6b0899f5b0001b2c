import { useEffect, useRef, useState } from 'preact/hooks'
import type { RunEvent } from '../../../../src/protocol/run-state.ts'
import { compact } from '../../../../src/util/values.ts'
import type { RunDetail } from '../../../../src/views/model/api.ts'
import { applyEvent } from '../../../../src/views/model/run-model-events.ts'
import type { RunModel } from '../../../../src/views/model/run-model.ts'
import { runPath } from '../../parts/links.tsx'
import type { ApiError } from '../../state/api.ts'
import { useDocument } from '../../state/resource.ts'
import { followRun } from '../../state/stream.ts'

/** A run as it is now. */
export type LiveRun = {
  readonly detail: RunDetail
  /** What its events come to; another object after each picture in which there were some. */
  readonly model: RunModel
  /** Called with the events that came, once for each picture of the screen. */
  onEvents(listener: (events: readonly RunEvent[]) => void): () => void
  reload(): void
}

// The document is reloaded after these events.
const TURNS = new Set([
  'runner_start',
  'runner_end',
  'artifact',
  'action_required',
  'task_submitted',
  'task_started',
  'task_done',
])
const PAUSE_MS = 800

/** A run, followed while it is looked at. */
export function useRun(id: string): { readonly run?: LiveRun; readonly error?: ApiError } {
  const { value, error, reload } = useDocument<RunDetail>(runPath(id))
  const held = useRef<{ detail: RunDetail; model: RunModel } | undefined>(undefined)
  const [, redraw] = useState(0)
  const [follows, setFollows] = useState(0)
  const lost = useRef(false)
  const listeners = useRef(new Set<(events: readonly RunEvent[]) => void>()).current

  if (value && value !== held.current?.detail)
    held.current = {
      detail: value,
      model:
        held.current && !lost.current && held.current.model.seq > value.model.seq
          ? held.current.model
          : value.model,
    }
  const isHere = value !== undefined
  useEffect(() => {
    if (!value || !lost.current) return
    // Too much came to take it one by one: go on from what the server has made of it.
    lost.current = false
    setFollows((times) => times + 1)
  }, [value])
  useEffect(() => {
    if (!isHere || !held.current) return undefined
    const reloadSoon = limit(reload, PAUSE_MS)
    let came: RunEvent[] = []
    const feed = openFeed({
      take(event) {
        came.push(event)
        applyEvent(held.current!.model, event)
        if (TURNS.has(event.type) || (event.type === 'runner_log' && event['answer'] !== undefined))
          reloadSoon.call()
      },
      drawn() {
        const events = came
        came = []
        for (const listener of listeners) listener(events)
        redraw((times) => times + 1)
      },
      overflow() {
        lost.current = true
        stop()
        reload()
      },
    })
    const stop = followRun(id, held.current.model.seq, feed.push)
    return () => {
      stop()
      feed.close()
      reloadSoon.stop()
    }
  }, [id, isHere, follows])

  const onEvents = useRef((listener: (events: readonly RunEvent[]) => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }).current
  // Parts of a page are drawn anew for other properties only, and the model that grows is always
  // the same.
  const run = held.current && {
    ...held.current,
    model: { ...held.current.model },
    onEvents,
    reload,
  }
  return compact({ run, error })
}

function limit(work: () => void, pause: number): { call(): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  let last = 0
  return {
    call() {
      timer ??= setTimeout(
        () => {
          timer = undefined
          last = performance.now()
          work()
        },
        Math.max(50, last + pause - performance.now()),
      )
    },
    stop: () => clearTimeout(timer),
  }
}

const MOST_AT_ONCE = 200
const LONGEST_FRAME_MS = 8
const MOST_WAITING = 50_000
const HIDDEN_PAUSE_MS = 500

/**
 * Takes events as they come and gives them on in portions, so that no flood of them stops the page.
 */
export type EventFeed = { push(events: readonly RunEvent[]): void; close(): void }

/**
 * Begins to feed. `take` gets the events in their order; `drawn` is called once for each picture of
 * the screen in which there were some; `overflow` instead of everything where more wait than it is
 * worth to take one by one.
 */
export function openFeed({
  take,
  drawn,
  overflow,
}: {
  take(event: RunEvent): void
  drawn(): void
  overflow(): void
}): EventFeed {
  let waiting: RunEvent[] = []
  let at = 0
  let cancel: (() => void) | undefined

  const drain = (): void => {
    cancel = undefined
    const began = performance.now()
    while (at < waiting.length && performance.now() - began < LONGEST_FRAME_MS) {
      for (const end = Math.min(at + MOST_AT_ONCE, waiting.length); at < end; at += 1)
        take(waiting[at]!)
    }
    if (at < waiting.length) schedule()
    else [waiting, at] = [[], 0]
    drawn()
  }
  // A hidden page draws nothing, but must be up to date when it is shown again.
  const schedule = (): void => {
    if (cancel) return
    if (document.hidden) {
      const timer = setTimeout(drain, HIDDEN_PAUSE_MS)
      cancel = () => clearTimeout(timer)
    } else {
      const frame = requestAnimationFrame(drain)
      cancel = () => cancelAnimationFrame(frame)
    }
  }
  const close = (): void => {
    cancel?.()
    cancel = undefined
    ;[waiting, at] = [[], 0]
  }
  return {
    push(events) {
      if (waiting.length - at + events.length > MOST_WAITING) {
        close()
        overflow()
        return
      }
      for (const event of events) waiting.push(event)
      schedule()
    },
    close,
  }
}
