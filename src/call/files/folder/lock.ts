import { rmSync, statSync, utimesSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { ToolError } from '../../../contract/tool-error.ts'
import { createExclusively, readText, setAside } from '../../exclusive-file.ts'
import { host } from '../../host.ts'
import { CHANGES_FOLDER } from '../path.ts'
import { diskProblem } from '../problems.ts'
import type { Disk } from './disk.ts'
import { isGone, ourselves } from './owner.ts'

/** The name of the lock in the place of changes. */
export const LOCK = 'lock'

const PATH = `${CHANGES_FOLDER}/${LOCK}`
const LONGEST_WAIT_MS = 30_000
const LONGEST_NAP_MS = 40
const SIGN_OF_LIFE_MS = 60_000
const LONGEST_SILENCE_MS = 10 * SIGN_OF_LIFE_MS
const MOST_TRIES = 20

// Threads of one process have its number in common, and each counts for itself.
let counter = Math.floor(Math.random() * 1e9)

/** Waits until nobody else commits to the root; gives what lets the next one do it. The place of changes has to be there. Throws CONFLICT after half a minute. */
export async function takeLock(disk: Disk): Promise<() => void> {
  const end = host.clock() + LONGEST_WAIT_MS
  for (let nap = 1; ; nap = Math.min(2 * nap, LONGEST_NAP_MS)) {
    const { release, holder } = tryLock(disk)
    if (release) return release
    if (host.clock() > end) {
      throw new ToolError(
        'CONFLICT',
        `another call has been changing the same files for ${LONGEST_WAIT_MS / 1000} seconds (process ${holder?.split('-')[3] ?? 'unknown'})`,
        {
          retryable: true,
          suggestion: `Wait for it. If there is no such process, remove ${disk.root}/${PATH}`,
        },
      )
    }
    await sleep(nap)
  }
}

/** Takes the lock at once, or tells who has it. One whose process is gone has it no more. */
export function tryLock(disk: Disk): {
  readonly release?: () => void
  readonly holder?: string | undefined
} {
  const mine = `${ourselves()}-${counter++}\n`
  try {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const found = disk.at(PATH, (place) => {
        if (createExclusively(place, mine, { flush: false })) return mine
        const holder = readText(place)
        const silence = Date.now() - (statSync(place, { throwIfNoEntry: false })?.mtimeMs ?? 0)
        if (holder !== undefined && !isGone(holder.trim(), silence, LONGEST_SILENCE_MS))
          return holder
        if (holder !== undefined) setAside(place, holder)
        return undefined
      })
      if (found === mine) return { release: hold(disk, mine) }
      if (found !== undefined) return { holder: found }
    }
    return {}
  } catch (error) {
    throw diskProblem(error, 'lock', PATH)
  }
}

function hold(disk: Disk, mine: string): () => void {
  const alive = setInterval(
    () => quietly(() => disk.at(PATH, (place) => utimesSync(place, new Date(), new Date()))),
    SIGN_OF_LIFE_MS,
  )
  alive.unref()
  return () => {
    clearInterval(alive)
    quietly(() =>
      disk.at(PATH, (place) => {
        if (readText(place) === mine) rmSync(place, { force: true })
      }),
    )
  }
}

// A lock that cannot be removed is one of a process that is gone, soon.
function quietly(act: () => void): void {
  try {
    act()
  } catch {
    /* nothing depends on it */
  }
}
