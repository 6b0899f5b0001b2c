import type { FileHandle } from 'node:fs/promises'
import { openOrdinary } from '../../../../runner/log/open-ordinary.ts'
import { readWholeLines } from '../../../../runner/log/whole-lines.ts'
import { oneAtATime } from '../one-at-a-time.ts'
import { startSlices } from '../slices.ts'

/** Who learns what a file of lines holds, piece by piece. */
export type LineReader = {
  /** Whole lines, and where the first of them begins. */
  take(bytes: Buffer, from: number): void | Promise<void>
  /** The file is another one than before: nothing that was taken counts. */
  forget(): void
}

/** A file that grows, of which every line is read once. */
export type GrownFile = {
  /** Reads what came since; gives the place behind the last whole line. A file that is not there is empty. */
  catchUp(): Promise<number>
}

/** Begins at the beginning of a file; nothing is read before it is asked for. */
export function openGrownFile(path: string, reader: LineReader): GrownFile {
  let end = 0
  let inode: number | undefined
  const readFrom = async (file: FileHandle): Promise<void> => {
    const { size, ino } = await file.stat()
    if (size < end || (inode !== undefined && ino !== inode)) {
      reader.forget()
      end = 0
    }
    inode = ino
    const slices = startSlices()
    for await (const piece of readWholeLines(file, end)) {
      await reader.take(piece.bytes, piece.end - piece.bytes.length)
      end = piece.end
      await slices.rest()
    }
  }
  return {
    catchUp: oneAtATime(async () => {
      const file = await openOrdinary(path)
      if (!file) {
        reader.forget()
        inode = undefined
        return (end = 0)
      }
      try {
        await readFrom(file)
        return end
      } finally {
        await file.close()
      }
    }),
  }
}
