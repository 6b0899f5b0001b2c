const NEWLINE = 10
const RETURN = 13
const LONGEST_LINE = 32 * 1024 * 1024

/** Cuts bytes into lines, without their ends and empty ones. A line that never ends is not kept: `too long` stands for it. */
export class LineCutter {
  #rest: Buffer[] = []
  #length = 0
  #skipping = false

  constructor(readonly longest = LONGEST_LINE) {}

  /** The lines that end in this chunk. */
  take(chunk: Uint8Array): (Buffer | 'too long')[] {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    const lines: (Buffer | 'too long')[] = []
    let start = 0
    for (let end = buffer.indexOf(NEWLINE); end !== -1; end = buffer.indexOf(NEWLINE, start)) {
      const line = this.#complete(buffer.subarray(start, end))
      if (line) lines.push(line)
      start = end + 1
    }
    if (start < buffer.length && !this.#skipping && !this.#keep(buffer.subarray(start)))
      lines.push('too long')
    return lines
  }

  /** What stands behind the last line end. */
  end(): Buffer | undefined {
    return this.#complete(Buffer.alloc(0))
  }

  #complete(piece: Buffer): Buffer | undefined {
    if (this.#skipping) {
      this.#skipping = false
      return undefined
    }
    const line = this.#rest.length === 0 ? piece : Buffer.concat([...this.#rest, piece])
    this.#rest = []
    this.#length = 0
    return line.length > 1 || (line.length === 1 && line[0] !== RETURN) ? line : undefined
  }

  #keep(piece: Buffer): boolean {
    this.#length += piece.length
    if (this.#length <= this.longest) {
      this.#rest.push(piece)
      return true
    }
    this.#rest = []
    this.#length = 0
    this.#skipping = true
    return false
  }
}
