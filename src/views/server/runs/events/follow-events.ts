import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FileHandle } from 'node:fs/promises'
import type { RunEvent } from '../../../../contract/run-state.ts'
import { openOrdinary } from '../../../../runner/log/open-ordinary.ts'
import { parseEvent } from '../../../../runner/log/scan-log.ts'
import { watchGrowth } from '../../../../runner/log/watch-growth.ts'
import { readWholeLines } from '../../../../runner/log/whole-lines.ts'
import { bound } from './read-page.ts'

// What comes in a burst is told together; a single event is told at once.
const PAUSE_MS = 15
const MOST_AT_ONCE = 1000

/** The events of a record after a number, as they come, until the signal, or until the folder is gone. Nothing is read before whoever listens has taken what came before. `offset` is a place at or before the first. */
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
  const growth = watchGrowth(path, signal)
  let file: FileHandle | undefined
  let end = offset
  let seen = after
  try {
    for (;;) {
      const began = performance.now()
      file ??= await openOrdinary(path)
      if (file && (await file.stat()).size < end) end = 0
      for await (const piece of file ? readWholeLines(file, end) : []) {
        const events: RunEvent[] = []
        for (const line of piece.bytes.toString('utf8').slice(0, -1).split('\n')) {
          const event = parseEvent(line)
          if (!event || event.seq <= seen) continue
          seen = event.seq
          events.push(bound(event, line.length) as unknown as RunEvent)
        }
        end = piece.end
        for (let at = 0; at < events.length; at += MOST_AT_ONCE) {
          yield events.slice(at, at + MOST_AT_ONCE)
          if (signal.aborted) return
          await nextTurn()
        }
      }
      if (growth.isOver) return
      await growth.more()
      onGrowth?.()
      const rest = PAUSE_MS - (performance.now() - began)
      if (rest > 0) await sleep(rest, undefined, { signal }).catch(() => undefined)
    }
  } finally {
    growth.close()
    await file?.close()
  }
}
