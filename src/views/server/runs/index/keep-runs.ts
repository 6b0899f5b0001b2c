import { existsSync, statSync } from 'node:fs'
import { isOver } from '../../../../contract/run-state.ts'
import { isLive } from '../../../../runner/folder/lock.ts'
import type { RunPaths } from '../../../../runner/folder/run-paths.ts'
import { runPaths } from '../../../../runner/folder/run-paths.ts'
import { scanRun } from '../live/read-on.ts'
import { tailRun } from '../live/tail-run.ts'
import { readFacts } from '../row/facts.ts'
import type { RunFacts } from '../row/facts.ts'
import { readQuickly } from '../row/read-run.ts'
import type { Asked, Standing } from '../row/standing.ts'
import { findLeft } from '../decisions/find-left.ts'
import type { RunIndex } from './run-index.ts'

// A folder is there before what belongs into it.
const FIRST_WAIT_MS = 5
const LONGEST_WAIT_MS = 10_000

/** Holds the rows of an index to what the folders of runs say. */
export type RunKeeper = {
  /** Looks at a run anew: it came, went, or changed. `quietly`: it was there before anybody looked. */
  look(id: string, quietly?: boolean): Promise<void>
  /** Where a run stands that somebody is at work on. */
  live(id: string): Standing | undefined
  /** Those that are followed. */
  readonly followed: readonly string[]
  close(): Promise<void>
}

type How = {
  readonly unscanned?: boolean
  readonly quietly?: boolean
  /** When the folder had changed last before it was read; 0: it is looked at once more. */ readonly changed?: number
}

export type KeeperOptions = {
  readonly root: string
  readonly index: RunIndex
  /** Told of questions that are settled. */
  readonly onSettled: (id: string, settled: readonly Asked[]) => void
}

/** Makes a keeper; nothing is looked at before it is told to. */
export function keepRuns({ root, index, onSettled }: KeeperOptions): RunKeeper {
  const over = new AbortController()
  const tails = new Map<
    string,
    {
      standing?: Standing
      /** It was read once, so that it has a row. */ readonly first: Promise<void>
      readonly done: Promise<void>
    }
  >()
  const looks = new Map<string, { again: boolean; done: Promise<void> }>()
  const waits = new Map<
    string,
    { readonly timer: NodeJS.Timeout; readonly delay: number; isOver: boolean }
  >()

  const put = (
    facts: RunFacts,
    standing: Standing,
    {
      unscanned = false,
      quietly = false,
      changed = 0,
      left,
    }: How & { readonly left?: readonly Asked[] | undefined } = {},
  ): void => {
    const settled = standing.takeSettled()
    if (settled.length > 0) onSettled(facts.run_id, settled)
    const row = standing.row()
    index.put(
      {
        row: left && left.length > 0 ? { ...row, questions: left.length } : row,
        changed,
        planned: standing.planned,
        unscanned,
        ...(left && left.length > 0 && { left }),
      },
      quietly,
    )
  }
  const conclude = async (
    paths: RunPaths,
    facts: RunFacts,
    standing: Standing,
    how: How = {},
  ): Promise<void> => {
    const mayAsk =
      facts.workflow !== undefined &&
      standing.row().state !== 'completed' &&
      (standing.left.length > 0 || how.unscanned === true)
    put(facts, standing, { ...how, left: mayAsk ? await findLeft(paths, standing) : undefined })
  }
  const follow = (paths: RunPaths, facts: RunFacts): Promise<void> => {
    const { id } = paths
    let onRead = (): void => undefined
    const first = new Promise<void>((resolve) => {
      onRead = resolve
    })
    const work = async (): Promise<void> => {
      const standing = await tailRun(paths, facts, {
        signal: over.signal,
        onRead,
        onChange: (now) => {
          tail.standing = now
          put(facts, now)
        },
      }).catch(() => undefined)
      tails.delete(id)
      onRead()
      if (over.signal.aborted) return
      if (!standing) return look(id)
      await conclude(paths, facts, standing)
      // Somebody has resumed it meanwhile, or its record cannot be written: it is looked at again, less and less often.
      if (existsSync(paths.lock) || !isOver(standing.row().state)) later(id)
      else waits.delete(id)
    }
    const tail: { standing?: Standing; readonly first: Promise<void>; done: Promise<void> } = {
      first,
      done: Promise.resolve(),
    }
    tails.set(id, tail)
    tail.done = work()
    return first
  }
  const later = (id: string): void => {
    const before = waits.get(id)
    clearTimeout(before?.timer)
    const delay = Math.min(LONGEST_WAIT_MS, before ? 2 * before.delay : FIRST_WAIT_MS)
    const wait = {
      delay,
      isOver: false,
      timer: setTimeout(() => {
        wait.isOver = true
        void look(id)
      }, delay).unref(),
    }
    waits.set(id, wait)
    if (over.signal.aborted) clearTimeout(wait.timer)
  }
  const mustWait = (id: string): boolean => waits.get(id)?.isOver === false
  // One look at a time; what changes during one is looked at behind it.
  const look: RunKeeper['look'] = (id, quietly = false) => {
    const now = looks.get(id)
    if (now) {
      now.again = true
      return now.done
    }
    const one = { again: false, done: Promise.resolve() }
    looks.set(id, one)
    return (one.done = lookOnce(id, quietly)
      .catch(() => undefined)
      .then(() => {
        looks.delete(id)
        return one.again ? look(id) : undefined
      }))
  }
  const lookOnce = async (id: string, quietly: boolean): Promise<void> => {
    if (over.signal.aborted || tails.has(id)) return tails.get(id)?.first
    const paths = runPaths(root, id)
    // Before anything is read: what changes meanwhile is looked at again.
    const stats = statSync(paths.folder, { throwIfNoEntry: false })
    if (stats?.isDirectory() !== true) {
      waits.delete(id)
      return index.get(id)?.row.light ? undefined : index.remove(id)
    }
    const facts = readFacts(paths)
    if (!facts) return later(id)
    const isLocked = existsSync(paths.lock)
    const quick = readQuickly(paths, facts)
    if (isLocked) {
      if (quick) put(facts, quick.standing, { quietly })
      return mustWait(id) && !isLive(paths) ? undefined : follow(paths, facts)
    }
    const standing = quick?.standing ?? (await scanRun(paths, facts))
    await conclude(paths, facts, standing, {
      unscanned: quick?.whole === false,
      quietly,
      changed: stats.mtimeMs,
    })
    if (isOver(standing.row().state)) return void waits.delete(id)
    // Nobody has it, and nobody will: whoever makes a run claims it first. Two looks, because a lock is set aside for a moment when it changes hands.
    if (!waits.has(id)) later(id)
    else if (!mustWait(id)) await follow(paths, facts)
  }
  return {
    look,
    live: (id) => tails.get(id)?.standing,
    get followed() {
      return [...tails.keys()]
    },
    async close() {
      over.abort()
      for (const { timer } of waits.values()) clearTimeout(timer)
      await Promise.allSettled([...tails.values(), ...looks.values()].map(({ done }) => done))
    },
  }
}
