import { readdirSync, statSync } from 'node:fs'
import { diskProblem } from '../log/disk-problem.ts'
import { isRunId } from './run-id.ts'
import { runPaths } from './run-paths.ts'
import type { RunPaths } from './run-paths.ts'

/** A run as its folder shows it. */
export type ListedRun = {
  readonly id: string
  readonly paths: RunPaths
  /** Milliseconds. */ readonly created: number
}

/** The runs of a folder, newest first; none where there is no folder. Folders that were never finished are left out. */
export function listRuns(root: string): ListedRun[] {
  return listFolders(root)
    .flatMap((id) => {
      const paths = runPaths(root, id)
      // Written when the run was created, and anew when it was resumed.
      const stats = statSync(paths.request, { throwIfNoEntry: false })
      return stats ? [{ id, paths, created: stats.mtimeMs }] : []
    })
    .sort((left, right) => right.created - left.created || (left.id < right.id ? -1 : 1))
}

/** The ids of everything in a folder that has the form of a run, in no order. */
export function listFolders(root: string): string[] {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && isRunId(entry.name))
      .map(({ name }) => name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw diskProblem(error, `cannot read ${root}`)
  }
}
