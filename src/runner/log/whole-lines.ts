const FIRST_CHUNK = 8 * 1024
const LARGEST_CHUNK = 256 * 1024
const LINE_FEED = 0x0a
/** No line that a runner writes is longer, as the largest `line_kb` is half of it; whatever is, is damage. */
export const LONGEST_LINE = 128 * 1024 * 1024

/** A piece of a file that ends with the end of a line, and where in the file that is. The bytes are good until the next piece is asked for. */
export type WholeLines = { readonly bytes: Buffer; readonly end: number }

/** What can be read at any place: an open file. */
export type Readable = {
  read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>
}

/** The lines of a file from an offset on, as many at a time as a chunk holds, up to the last that has an end. */
export async function* readWholeLines(file: Readable, from: number): AsyncGenerator<WholeLines> {
  let held = Buffer.alloc(0)
  let chunk = Buffer.allocUnsafe(FIRST_CHUNK)
  let position = from
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position)
    if (bytesRead === 0) return
    position += bytesRead
    const read = chunk.subarray(0, bytesRead)
    const end = read.lastIndexOf(LINE_FEED) + 1
    if (end > 0) {
      yield {
        bytes:
          held.length === 0 ? read.subarray(0, end) : Buffer.concat([held, read.subarray(0, end)]),
        end: position - bytesRead + end,
      }
      held = Buffer.from(read.subarray(end))
    } else if (held.length + bytesRead <= LONGEST_LINE) held = Buffer.concat([held, read])
    // Its end is still to come, and closes a line that nobody can read.
    else held = Buffer.from('\0')
    // Most records are short; and a long line is not copied for each little piece of it.
    if (bytesRead === chunk.length && (chunk.length < LARGEST_CHUNK || chunk.length < held.length))
      chunk = Buffer.allocUnsafe(2 * chunk.length)
  }
}
