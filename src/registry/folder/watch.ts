import { watch as watchFolder } from 'node:fs'
import type { FSWatcher } from 'node:fs'

const QUIET_MS = 200

/** Tells, once it is quiet again, that something in the folders changed; keeps no process alive. Gives what ends it. */
export function watchFolders(folders: readonly string[], onChange: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  const soon = (): void => {
    clearTimeout(timer)
    timer = setTimeout(onChange, QUIET_MS)
    timer.unref()
  }
  const watchers = folders.flatMap((folder): FSWatcher[] => {
    try {
      const watcher = watchFolder(folder, { persistent: false }, soon)
      // A folder that goes away is a change as well.
      watcher.on('error', soon)
      return [watcher]
    } catch {
      return []
    }
  })
  return () => {
    clearTimeout(timer)
    watchers.forEach((watcher) => watcher.close())
  }
}
