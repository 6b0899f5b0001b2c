const CHUNK = 256 * 1024

/** Reads so many bytes of a file from a place on. */
export type Reader = { readonly size: number; read(offset: number, length: number): Uint8Array }

/** The lines of a file, many at a time and without their ends; of a line that is longer than `longest` characters only the beginning, marked in `cut`. `decoder` is used up. */
export function* linesOf(
  file: Reader,
  longest: number,
  decoder: InstanceType<typeof TextDecoder>,
): Generator<{ readonly lines: readonly string[]; readonly cut: boolean }> {
  let rest = ''
  let cut = false
  for (let offset = 0; offset < file.size; offset += CHUNK) {
    const text =
      rest +
      decoder.decode(file.read(offset, Math.min(CHUNK, file.size - offset)), { stream: true })
    const lines = text.split('\n')
    rest = lines.pop()!
    if (lines.length > 0) {
      yield {
        lines: lines.map((line) => shorten(line, longest)),
        cut: cut || lines.some((line) => line.length > longest),
      }
      cut = false
    }
    if (rest.length > longest) [rest, cut] = [rest.slice(0, longest), true]
  }
  rest += decoder.decode()
  if (rest !== '') yield { lines: [shorten(rest, longest)], cut }
}

function shorten(line: string, longest: number): string {
  return (line.endsWith('\r') ? line.slice(0, -1) : line).slice(0, longest)
}
