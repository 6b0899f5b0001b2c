import { writeFile } from 'node:fs/promises'
import { isLive } from '../../runner/folder/lock.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { readBatches } from '../../runner/log/read-log.ts'
import type { Task } from './task.ts'

/** Follows a run that another process performs until nobody does any more. Cancelled meanwhile, it is asked to end, and followed all the same. */
export async function followChild(paths: RunPaths, task: Task, signal: AbortSignal): Promise<void> {
  const cancel = (): void =>
    void writeFile(paths.cancel, '', { mode: 0o600 }).catch(() => undefined)
  signal.addEventListener('abort', cancel, { once: true })
  if (signal.aborted) cancel()
  try {
    for await (const events of readBatches(paths.events, {
      follow: true,
      isComplete: () => !isLive(paths),
    }))
      for (const event of events) await task.heard(event)
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}
