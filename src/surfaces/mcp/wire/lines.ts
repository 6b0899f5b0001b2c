const NEWLINE = 10
const LONGEST_LINE = 32 * 1024 * 1024

/** Cuts bytes into lines, without their ends and empty ones. A line that never ends is not kept: `too long` stands for it. */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>, longest = LONGEST_LINE): AsyncGenerator<Buffer | 'too long'> {
  let rest: Buffer[] = []
  let length = 0
  let skipping = false
  for await (const chunk of chunks) {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let start = 0
    for (let end = buffer.indexOf(NEWLINE); end !== -1; end = buffer.indexOf(NEWLINE, start)) {
      const piece = buffer.subarray(start, end)
      start = end + 1
      if (skipping) {
        skipping = false
        continue
      }
      const line = rest.length === 0 ? piece : Buffer.concat([...rest, piece])
      rest = []
      length = 0
      if (line.length > 0) yield line
    }
    if (start === buffer.length || skipping) continue
    length += buffer.length - start
    if (length > longest) {
      rest = []
      length = 0
      skipping = true
      yield 'too long'
    } else rest.push(buffer.subarray(start))
  }
  if (length > 0) yield Buffer.concat(rest)
}
