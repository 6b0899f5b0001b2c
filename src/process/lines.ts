const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

export type LineSplitter = {
  /** False as soon as a line is longer than it may be; everything after it is ignored. */
  push(chunk: Buffer): boolean
  /** Gives out a last line that has no end. */
  finish(): void
}

/** Splits bytes into lines at `\n` and `\r\n` only, whatever the size of the chunks, and never holds more than one line. Bytes that are no UTF-8 become U+FFFD. */
export function splitLines(maxLine: number, onLine: (line: string) => void): LineSplitter {
  let held: Buffer[] = []
  let heldBytes = 0
  let broken = false

  const giveOut = (chunk: Buffer, start: number, end: number): void => {
    const line =
      heldBytes === 0
        ? chunk.subarray(start, end)
        : Buffer.concat([...held, chunk.subarray(start, end)])
    held = []
    heldBytes = 0
    onLine(
      line.toString('utf8', 0, line.at(-1) === CARRIAGE_RETURN ? line.length - 1 : line.length),
    )
  }

  return {
    push(chunk) {
      let start = 0
      while (!broken) {
        const end = chunk.indexOf(LINE_FEED, start)
        const length = heldBytes + (end === -1 ? chunk.length : end) - start
        if (length > maxLine) broken = true
        else if (end !== -1) giveOut(chunk, start, end)
        else {
          if (start < chunk.length) held.push(chunk.subarray(start))
          heldBytes = length
          return true
        }
        start = end + 1
      }
      held = []
      return false
    },
    finish() {
      if (!broken && heldBytes > 0) giveOut(Buffer.alloc(0), 0, 0)
    },
  }
}
