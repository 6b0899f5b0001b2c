import { watch as watchFolder } from 'node:fs'
import type { FSWatcher } from 'node:fs'

const QUIET_MS = 200

/** Folders that are watched; it keeps no process alive. */
export type Watch = {
  /** Watches these and no others. What happened in those before is still told. */
  follow(folders: readonly string[]): void
  close(): void
}

/** Tells, a moment after the first of several changes, that something in the folders changed; a folder that never rests is told again and again. */
export function createWatch(onChange: () => void): Watch {
  let watchers: readonly FSWatcher[] = []
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const tell = (): void => {
    timer = undefined
    onChange()
  }
  const soon = (): void => {
    if (!isClosed) timer ??= setTimeout(tell, QUIET_MS).unref()
  }
  const open = (folder: string): readonly FSWatcher[] => {
    try {
      // A folder that goes away is a change as well.
      return [watchFolder(folder, { persistent: false }, soon).on('error', soon)]
    } catch {
      return []
    }
  }
  return {
    follow(folders) {
      const before = watchers
      // New ones first, so that nothing happens unseen between the two; anew, because a folder may be another one of the same name.
      watchers = isClosed ? [] : folders.flatMap(open)
      for (const watcher of before) watcher.close()
    },
    close() {
      isClosed = true
      clearTimeout(timer)
      this.follow([])
    },
  }
}
