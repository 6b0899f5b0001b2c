import { existsSync, watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { dirname } from 'node:path'

// Some file systems tell nothing, and a watcher may miss what comes while it is made.
const LOOK_AGAIN_MS = 200

export type Growth = {
  /** True when nothing can come any more: the folder of the file is gone, or the reader wants no more. */
  readonly isOver: boolean
  /** Resolves when there may be more. */
  more(): Promise<void>
  close(): void
}

/** Watches a file, or the place where it will be. */
export function watchGrowth(path: string, signal?: AbortSignal): Growth {
  const folder = dirname(path)
  let wake: () => void = () => undefined
  let changed = false
  const onChange = (): void => {
    changed = true
    wake()
  }
  const watcher = watchFolder(folder, onChange)
  signal?.addEventListener('abort', onChange)
  return {
    get isOver() {
      return signal?.aborted === true || !existsSync(folder)
    },
    async more() {
      let timer: NodeJS.Timeout | undefined
      if (!changed)
        await new Promise<void>((resolve) => {
          wake = resolve
          timer = setTimeout(resolve, LOOK_AGAIN_MS)
        })
      clearTimeout(timer)
      changed = false
    },
    close() {
      signal?.removeEventListener('abort', onChange)
      watcher?.close()
    },
  }
}

// The folder, because the file may come later, and because the lock of a run goes when it ends.
function watchFolder(folder: string, onChange: () => void): FSWatcher | undefined {
  try {
    return watch(folder, onChange).on('error', () => undefined)
  } catch {
    return undefined
  }
}
