import type { Limits } from '../permissions/grants.ts'
import type { KnownProcess } from '../process-table.ts'
import type { LimitReached } from './limit-reached.ts'
import { measureMemory } from './memory.ts'
import { countProcessorTime } from './processor-time.ts'
import { makeRounds } from './rounds.ts'
import { trackTree } from './track-tree.ts'
import { measureWorkspace } from './workspace-size.ts'

/** How near a limit is where it is looked at more often. */
const NEAR = 0.4

const watchTrees = makeRounds({ usual: 60, soon: 20, timesCost: 6 })
const watchFolders = makeRounds({ usual: 250, soon: 100, timesCost: 5 })

/** What is watched besides the processes. */
export type WatchedPlaces = {
  readonly workspace?: string
  /** Folders in memory, as the processes see them. */
  readonly inMemory?: readonly string[]
  /** Whether nobody else holds the number of processes down. */
  readonly countProcesses: boolean
}

/** Watches what a tree uses, from its first process on, and tells once when it is too much. Gives a function that ends the watch and tells who lived at the last look. */
export function watchLimits(limits: Limits, places: WatchedPlaces, root: () => number | undefined, onReached: (limit: LimitReached) => void): () => readonly KnownProcess[] {
  const { cpuSeconds, memoryMb, processes, workspaceMb } = limits
  const tree = trackTree(root)
  const addUp = countProcessorTime()
  let isOver = false
  // True where it comes near.
  const compare = (what: LimitReached['what'], allowed: number | undefined, measure: (allowed: number) => number): boolean => {
    if (isOver || allowed === undefined) return false
    const seen = measure(allowed)
    if (seen <= allowed) return seen > allowed * NEAR
    isOver = true
    onReached({ what, allowed, seen: Math.round(seen * 100) / 100 })
    return false
  }
  const endTree = watchTrees(() => {
    const rows = tree.look()
    const near = [
      compare('memoryMb', memoryMb, (allowed) => measureMemory(rows, places.inMemory ?? [], allowed)),
      compare('cpuSeconds', cpuSeconds, () => addUp(rows)),
      compare('processes', places.countProcesses ? processes : undefined, () => rows.reduce((sum, { threads }) => sum + threads, 0)),
    ]
    return near.includes(true)
  })
  const { workspace } = places
  const endFolder = workspace === undefined || workspaceMb === undefined ? undefined : watchFolders(async () => {
    const seen = await measureWorkspace(workspace, tree.known(), workspaceMb)
    return compare('workspaceMb', workspaceMb, () => seen)
  })
  return () => {
    isOver = true
    endTree()
    endFolder?.()
    return tree.known()
  }
}
