import { isUtf8 } from 'node:buffer'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SMALLEST = 4096

/** Who hears about lines, without their ends. */
export type LineListener = {
  line(text: string): void
  /** A line that is no UTF-8. */
  broken(bytes: Buffer): void
  /** A line that is longer than it may be: its beginning, and how long it was. */
  long(beginning: Buffer, length: number): void
}

export type OutputSplitter = {
  push(chunk: Buffer): void
  /** Gives out a last line that has no end. */
  finish(): void
}

/** Splits bytes into lines at `\n` and `\r\n` only. Of a line that is too long the rest is read away, and the next one is whole again; never more than one line is held. */
export function splitOutput(maxLine: number, listener: LineListener): OutputSplitter {
  const held = holdLine(maxLine)

  const giveOut = (bytes: Buffer): void => {
    const line = bytes.at(-1) === CARRIAGE_RETURN ? bytes.subarray(0, -1) : bytes
    if (line.length > maxLine) listener.long(line.subarray(0, maxLine), line.length)
    else if (isUtf8(line)) listener.line(line.toString())
    else listener.broken(line)
  }
  const giveHeld = (): void => {
    // One more is held, because it may be a carriage return.
    if (held.length() > maxLine + 1) listener.long(held.bytes().subarray(0, maxLine), held.length())
    else giveOut(held.bytes())
    held.clear()
  }
  const giveAll = (bytes: Buffer): void => {
    // The usual case, many times as fast: everything is text, and no line can be too long.
    if (bytes.length <= maxLine && isUtf8(bytes)) {
      for (const line of bytes.toString().split('\n'))
        listener.line(
          line.charCodeAt(line.length - 1) === CARRIAGE_RETURN ? line.slice(0, -1) : line,
        )
      return
    }
    let start = 0
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      giveOut(bytes.subarray(start, end))
      start = end + 1
    }
    giveOut(bytes.subarray(start))
  }

  return {
    push(chunk) {
      let start = 0
      if (held.length() > 0) {
        const end = chunk.indexOf(LINE_FEED)
        held.add(end === -1 ? chunk : chunk.subarray(0, end))
        if (end === -1) return
        giveHeld()
        start = end + 1
      }
      const last = chunk.lastIndexOf(LINE_FEED)
      if (last >= start) giveAll(chunk.subarray(start, last))
      held.add(chunk.subarray(Math.max(start, last + 1)))
    },
    finish() {
      if (held.length() > 0) giveHeld()
    },
  }
}

type HeldLine = { add(bytes: Buffer): void; bytes(): Buffer; length(): number; clear(): void }

/** The beginning of a line, in one piece of memory however small the chunks are, and never more than may be kept of it. */
function holdLine(maxLine: number): HeldLine {
  let room = Buffer.alloc(0)
  let length = 0
  return {
    add(bytes) {
      const kept = Math.min(bytes.length, Math.max(0, maxLine + 1 - length))
      if (kept > room.length - length && kept > 0) {
        const larger = Buffer.allocUnsafe(
          Math.min(maxLine + 1, Math.max(SMALLEST, 2 * (length + kept))),
        )
        room.copy(larger, 0, 0, length)
        room = larger
      }
      if (kept > 0) bytes.copy(room, length, 0, kept)
      length += bytes.length
    },
    bytes: () => room.subarray(0, Math.min(length, room.length)),
    length: () => length,
    clear() {
      length = 0
      if (room.length > 16 * SMALLEST) room = Buffer.alloc(0)
    },
  }
}
