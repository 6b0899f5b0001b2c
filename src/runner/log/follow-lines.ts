import type { FileHandle } from 'node:fs/promises'
import { openOrdinary } from './open-ordinary.ts'
import { watchGrowth } from './watch-growth.ts'
import { readWholeLines } from './whole-lines.ts'

const LONGEST_TAIL = 1024 * 1024

export type FollowOptions = {
  /** Goes on waiting for more at the end, until the signal, or until the folder is gone. */
  readonly follow?: boolean
  readonly signal?: AbortSignal
  /** Asked at each end of what there is while following: true when nothing will come any more. */
  readonly isComplete?: () => boolean
  /** A last line without an end counts too, when nothing will come any more. */
  readonly withTail?: boolean
}

/** The lines of a file as they come, as many at a time as there are. A line without an end is not there yet. A file that does not exist is empty. Throws PERMISSION or INTERNAL when it cannot be read. */
export async function* followLines(
  path: string,
  { follow = false, signal, isComplete, withTail = false }: FollowOptions = {},
): AsyncGenerator<string[]> {
  const growth = follow ? watchGrowth(path, signal) : undefined
  let file: FileHandle | undefined
  let end = 0
  try {
    for (;;) {
      // Asked before reading: what was written before it was true is still read.
      const complete = !growth || growth.isOver || isComplete?.() === true
      file ??= await openOrdinary(path)
      // From the last end of a line each time: what stood behind it may have been cut and written anew.
      for await (const piece of file ? readWholeLines(file, end) : []) {
        end = piece.end
        yield piece.bytes.toString('utf8').slice(0, -1).split('\n')
        if (signal?.aborted) return
      }
      if (complete) {
        const rest = withTail && file ? await readRest(file, end) : ''
        if (rest !== '') yield [rest]
        return
      }
      await growth.more()
    }
  } finally {
    growth?.close()
    await file?.close()
  }
}

async function readRest(file: FileHandle, from: number): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(LONGEST_TAIL), 0, LONGEST_TAIL, from)
  return buffer.toString('utf8', 0, bytesRead)
}
