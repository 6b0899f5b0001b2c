import { useEffect, useRef, useState } from 'preact/hooks'
import type { LogPage } from '../../../../../src/views/model/api.ts'
import { get } from '../../../state/api.ts'

const PAGE = 2000
/** Lines that the page holds: to search them, they have to be here. */
const MOST_LINES = 60_000
const PAUSE_MS = 1000
const MOST_TRIES = 5

/** The lines of a log as far as they are here. */
export type Log = {
  readonly lines: readonly string[]
  readonly total: number
  readonly cut: number
  readonly isWhole: boolean
  readonly error?: unknown
}

const NOTHING: Log = { lines: [], total: 0, cut: 0, isWhole: false }

/** Reads a log from its beginning, and goes on while the run does. */
export function useLog(id: string, file: string, isLive: boolean): Log {
  const [log, setLog] = useState(NOTHING)
  const live = useRef(isLive)
  live.current = isLive
  useEffect(() => {
    const stop = new AbortController()
    setLog(NOTHING)
    void read(id, file, live, stop.signal, setLog)
    return () => stop.abort()
  }, [id, file])
  return log
}

async function read(
  id: string,
  file: string,
  live: { readonly current: boolean },
  signal: AbortSignal,
  tell: (log: Log) => void,
): Promise<void> {
  let lines: string[] = []
  let cut = 0
  for (let rounds = 0; !signal.aborted && lines.length < MOST_LINES;) {
    // Once more after the end of the run, so that what was written last is seen.
    const wasLive = live.current
    let atEnd = true
    try {
      const page: LogPage = await get<LogPage>(
        `/runs/${encodeURIComponent(id)}/log?${new URLSearchParams({ file, from: String(lines.length + 1), limit: String(PAGE) })}`,
        signal,
      )
      const all = [...lines, ...page.lines]
      atEnd = page.lines.length === 0 || all.length >= page.total
      cut += page.cut ?? 0
      tell({ lines: all, total: page.total, cut, isWhole: atEnd })
      // The last line may still grow: it is read again.
      lines = atEnd && wasLive ? all.slice(0, -1) : all
      if (atEnd && !wasLive) return
    } catch (error) {
      if (signal.aborted) return
      tell({ lines, total: lines.length, cut, isWhole: false, error })
      if (!wasLive && (rounds += 1) > MOST_TRIES) return
    }
    if (atEnd) await new Promise((done) => setTimeout(done, PAUSE_MS))
  }
}
