import { afterEach } from 'vitest'
import type { RunListChanges, RunRow } from '../../../src/views/model/api.ts'
import type { RunsSource } from '../../../src/views/server/backend.ts'
import { openRunsSource } from '../../../src/views/runs/runs-source.ts'
import type { RunsSourceOptions } from '../../../src/views/runs/runs-source.ts'

const opened = new Set<RunsSource>()
const stops = new Set<AbortController>()
afterEach(async () => {
  for (const stop of stops) stop.abort()
  for (const source of opened) await source.close()
  stops.clear()
  opened.clear()
})

/** Looks at a folder of runs until the test is over. */
export function look(root: string, more: Partial<RunsSourceOptions> = {}): RunsSource {
  const source = openRunsSource({ root, now: Date.now, epoch: 'e1', ...more })
  opened.add(source)
  return source
}

/** A query as an address has it. */
export function query(text = ''): URLSearchParams {
  return new URLSearchParams(text)
}

/** A signal that comes when the test is over. */
export function untilEnd(): AbortSignal {
  const stop = new AbortController()
  stops.add(stop)
  return stop.signal
}

/** All news of a list, from the beginning. */
export type Heard = {
  readonly pieces: { readonly version: number; readonly news: RunListChanges }[]
  /** What each run was, in the order of the news. */
  states(id: string): string[]
  /** Resolves with the row of a run when it is as wanted. */
  until(id: string, is: (row: RunRow) => boolean): Promise<RunRow>
  /** Resolves when any piece is as wanted. */
  untilPiece(is: (news: RunListChanges) => boolean): Promise<RunListChanges>
}

/** Listens to the news of a list until the test is over. */
export function listen(source: RunsSource, after?: number): Heard {
  const pieces: { readonly version: number; readonly news: RunListChanges }[] = []
  const waiting = new Set<() => void>()
  void (async () => {
    for await (const piece of source.news(after, untilEnd())) {
      pieces.push(piece)
      for (const tell of [...waiting]) tell()
    }
  })()
  const untilThere = <Found>(find: () => Found | undefined): Promise<Found> =>
    new Promise((resolve) => {
      const tell = (): void => {
        const found = find()
        if (found === undefined) return
        waiting.delete(tell)
        resolve(found)
      }
      waiting.add(tell)
      tell()
    })
  const rowsOf = (id: string): RunRow[] =>
    pieces.flatMap(({ news }) => news.rows.filter(({ run_id }) => run_id === id))
  return {
    pieces,
    states: (id) =>
      rowsOf(id)
        .map(({ state }) => state)
        .filter((state, index, all) => state !== all[index - 1]),
    until: (id, is) => untilThere(() => rowsOf(id).find(is)),
    untilPiece: (is) => untilThere(() => pieces.find(({ news }) => is(news))?.news),
  }
}
