import { existsSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { isOver } from '../../../../contract/run-state.ts'
import { isLive } from '../../../../runner/folder/lock.ts'
import { recoverRun } from '../../../../runner/folder/recover.ts'
import type { RunPaths } from '../../../../runner/folder/run-paths.ts'
import { openOrdinary } from '../../../../runner/log/open-ordinary.ts'
import { watchGrowth } from '../../../../runner/log/watch-growth.ts'
import type { RunFacts } from '../row/facts.ts'
import { startStanding } from '../row/standing.ts'
import type { Standing } from '../row/standing.ts'
import { readOn } from './read-on.ts'

// A flood is read in pieces of this distance; a single event is read at once.
const PAUSE_MS = 20
const LOOK_AT_OWNER_MS = 1000

export type TailOptions = {
  readonly signal: AbortSignal
  /** Called when something was read. */
  readonly onChange: (standing: Standing) => void
  /** Called each time that all that is there was read, be it nothing. */
  readonly onRead: () => void
}

/** Follows a run while somebody is at work on it. What its runner left when it died is finished. Gives where it stands at the end; undefined where its folder is gone. */
export async function tailRun(
  paths: RunPaths,
  facts: RunFacts,
  { signal, onChange, onRead }: TailOptions,
): Promise<Standing | undefined> {
  const growth = watchGrowth(paths.events, signal)
  let file: FileHandle | undefined
  let standing = startStanding(facts)
  let end = 0
  let isOwned = true
  let lookedAt = -Infinity
  const isAtWork = (): boolean => {
    if (!existsSync(paths.lock)) return false
    const now = performance.now()
    if (now - lookedAt < LOOK_AT_OWNER_MS) return isOwned
    lookedAt = now
    return (isOwned = isLive(paths))
  }
  const read = async (): Promise<void> => {
    file ??= await openOrdinary(paths.events).catch(() => undefined)
    if (!file) return
    const { size } = await file.stat()
    // Somebody has cut it, and what was told is not what happened.
    if (size < end) [standing, end] = [startStanding(facts), 0]
    const before = end
    end = await readOn(file, end, standing)
    if (end !== before) onChange(standing)
  }
  try {
    for (;;) {
      // Asked before reading: what was written before it was over is still read.
      const atWork = isAtWork()
      const began = performance.now()
      await read()
      onRead()
      if (signal.aborted || !existsSync(paths.folder)) return signal.aborted ? standing : undefined
      if (!atWork) break
      await growth.more()
      const rest = PAUSE_MS - (performance.now() - began)
      if (rest > 0) await sleep(rest, undefined, { signal }).catch(() => undefined)
    }
    const { state } = standing.row()
    if (!isOver(state) || existsSync(paths.lock)) {
      // Somebody else may be faster, or a full disk may keep it from being written: it is looked at again.
      await recoverRun(paths).catch(() => undefined)
      await read()
    }
    return standing
  } finally {
    growth.close()
    await file?.close()
  }
}
