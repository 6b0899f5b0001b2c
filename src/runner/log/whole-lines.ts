import type { FileHandle } from 'node:fs/promises'

const CHUNK = 256 * 1024
const LINE_FEED = 0x0a
/** No line that a runner writes is longer; whatever is, is damage. */
export const LONGEST_LINE = 32 * 1024 * 1024

/** A piece of a file that ends with the end of a line, and where in the file that is. */
export type WholeLines = { readonly bytes: Buffer; readonly end: number }

/** The lines of a file from an offset on, as many at a time as a chunk holds, up to the last that has an end. */
export async function* readWholeLines(file: FileHandle, from: number): AsyncGenerator<WholeLines> {
  let held = Buffer.alloc(0)
  let position = from
  for (;;) {
    const chunk = Buffer.allocUnsafe(Math.max(CHUNK, held.length))
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position)
    if (bytesRead === 0) return
    position += bytesRead
    const read = chunk.subarray(0, bytesRead)
    const end = read.lastIndexOf(LINE_FEED) + 1
    if (end > 0) {
      yield { bytes: held.length === 0 ? read.subarray(0, end) : Buffer.concat([held, read.subarray(0, end)]), end: position - bytesRead + end }
      held = read.subarray(end)
    } else if (held.length + bytesRead <= LONGEST_LINE) held = Buffer.concat([held, read])
    // Its end is still to come, and closes a line that nobody can read.
    else held = Buffer.from('\0')
  }
}
