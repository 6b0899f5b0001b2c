import type { FileHandle } from 'node:fs/promises'
import type { RunEvent } from '../../contract/run-state.ts'
import { diskProblem } from './disk-problem.ts'
import { parseEvent } from './scan-log.ts'
import { watchGrowth } from './watch-growth.ts'
import { readWholeLines } from './whole-lines.ts'

export type ReadLogOptions = {
  /** Goes on waiting for more at the end, until the signal, or until the file is gone. */
  readonly follow?: boolean
  /** The first number that is wanted; default 1. */
  readonly from?: number
  readonly signal?: AbortSignal
  /** Asked at each end of what there is while following: true when nothing will come any more. */
  readonly isComplete?: () => boolean
}

/** The events of a log in order. Lines that are no events are left out; a line without an end is not there yet. A log that does not exist is empty. Throws PERMISSION or INTERNAL when the file cannot be read. */
export async function* readLog(path: string, { follow = false, from = 1, signal, isComplete }: ReadLogOptions = {}): AsyncGenerator<RunEvent> {
  const growth = follow ? watchGrowth(path, signal) : undefined
  let file: FileHandle | undefined
  let end = 0
  try {
    for (;;) {
      // Asked before reading: what was written before it was true is still read.
      const complete = !growth || growth.isOver || isComplete?.() === true
      file ??= await openIfThere(path)
      // From the last end of a line each time: what stood behind it may have been cut and written anew.
      if (file) {
        for await (const piece of readWholeLines(file, end)) {
          end = piece.end
          for (const line of piece.bytes.toString('utf8').slice(0, -1).split('\n')) {
            const event = parseEvent(line)
            if (event && event.seq >= from) yield event
            if (signal?.aborted) return
          }
        }
      }
      if (complete) return
      await growth.more()
    }
  } finally {
    growth?.close()
    await file?.close()
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  const { open } = await import('node:fs/promises')
  try {
    return await open(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw diskProblem(error, `cannot read ${path}`)
  }
}
