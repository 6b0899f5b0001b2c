import type { Limits } from '../permissions/grants.ts'
import type { KnownProcess } from '../process-table.ts'
import { sendSignal } from '../host.ts'
import type { LimitReached } from './limit-reached.ts'
import { measureMemory } from './memory.ts'
import { countProcessorTime } from './processor-time.ts'
import { makeRounds } from './rounds.ts'
import { trackTree } from './track-tree.ts'
import { measureWorkspace } from './workspace-size.ts'

const watchTrees = makeRounds(40, 2)
/** Milliseconds to the limit from which on a tree that takes memory stands still while it is looked at: a look takes long enough for a greedy one to go far beyond. */
const CLOSE = 150
const watchFolders = makeRounds(250, 30)

/** What is watched besides the processes. */
export type WatchedPlaces = {
  readonly workspace?: string
  /** Folders in memory, as the processes see them. */
  readonly inMemory?: readonly string[]
  /** A file in memory that they were given to read, and that its owner may let grow. */
  readonly input?: number | undefined
  /** Whether nobody else holds the number of processes down. */
  readonly countProcesses: boolean
}

/** Watches what a tree uses, from its first process on, and tells once when it is too much. Gives a function that ends the watch and tells who lived at the last look. */
export function watchLimits(
  limits: Limits,
  places: WatchedPlaces,
  root: () => number | undefined,
  onReached: (limit: LimitReached) => void,
): () => readonly KnownProcess[] {
  const { cpuSeconds, memoryMb, processes, workspaceMb } = limits
  const tree = trackTree(root)
  const addUp = countProcessorTime()
  let isOver = false
  const compare = (
    what: LimitReached['what'],
    allowed: number | undefined,
  ): ((measure: (allowed: number) => number) => number | undefined) => {
    const foresee = speedometer()
    return (measure) => {
      if (isOver || allowed === undefined) return undefined
      const seen = measure(allowed)
      if (seen <= allowed) return foresee(seen, allowed)
      isOver = true
      onReached({ what, allowed, seen: Math.round(seen * 100) / 100 })
      return undefined
    }
  }
  const [memory, processor, number, folder] = [
    compare('memoryMb', memoryMb),
    compare('cpuSeconds', cpuSeconds),
    compare('processes', places.countProcesses ? processes : undefined),
    compare('workspaceMb', workspaceMb),
  ]
  let isClose = false
  const endTree = watchTrees(() => {
    const still = isClose ? tree.known() : []
    for (const { pid } of still) sendSignal(pid, 'SIGSTOP')
    const rows = tree.look()
    const left = memory((allowed) =>
      measureMemory(rows, places.inMemory ?? [], places.input, allowed),
    )
    // What is over its limit stays as it is until it is ended.
    if (!isOver) for (const { pid } of still) sendSignal(pid, 'SIGCONT')
    isClose = left !== undefined && left < CLOSE
    return soonest([
      left,
      processor(() => addUp(rows)),
      number(() => rows.reduce((sum, { threads }) => sum + threads, 0)),
    ])
  })
  const { workspace } = places
  const endFolder =
    workspace === undefined || workspaceMb === undefined
      ? undefined
      : watchFolders(async () => {
          const seen = await measureWorkspace(workspace, tree.known(), workspaceMb)
          return folder(() => seen)
        })
  return () => {
    isOver = true
    endTree()
    endFolder?.()
    return tree.known()
  }
}

// Half of the milliseconds until the limit is reached, at the speed since the last look.
function speedometer(): (seen: number, allowed: number) => number | undefined {
  let last: { readonly seen: number; readonly at: number } | undefined
  let speed = 0
  return (seen, allowed) => {
    const now = { seen, at: performance.now() }
    const measured = last === undefined ? 0 : (seen - last.seen) / (now.at - last.at)
    // An exact look finds less than the rough one before it, although the tree has grown.
    speed = measured < 0 ? speed / 2 : measured
    last = now
    return speed > 0 ? (allowed - seen) / speed / 2 : undefined
  }
}

function soonest(wishes: readonly (number | undefined)[]): number | undefined {
  return wishes.reduce(
    (least, wish) => (least === undefined || (wish !== undefined && wish < least) ? wish : least),
    undefined,
  )
}
