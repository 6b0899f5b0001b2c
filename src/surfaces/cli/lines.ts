import type { ByteSource } from '../../contract/io.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { untilAborted } from '../../call/running.ts'

const LONGEST_LINE = 16 * 1024 * 1024

/** Reads stdin line by line; a line that was read but not wanted can be put back for the next reader. */
export type LineReader = {
  /** The next line, which may be empty; undefined at the end. */
  next(signal?: AbortSignal): Promise<string | undefined>
  /** Hands a line to whoever reads next. */
  putBack(lines: readonly string[]): void
}

/** One reader for the one owner of stdin. */
export function readLines(stdin: ByteSource): LineReader {
  const kept: string[] = []
  let iterator: AsyncIterator<Uint8Array> | undefined
  let pending: Promise<IteratorResult<Uint8Array>> | undefined
  let rest = ''
  let ended = false
  // Lossy on purpose: one bad byte spoils its own line, not the dialogue.
  const decoder = new TextDecoder('utf-8')

  // A reader that was cancelled leaves its chunk to the next one.
  const readOn = (): Promise<IteratorResult<Uint8Array>> => {
    iterator ??= stdin.bytes()[Symbol.asyncIterator]()
    return (pending ??= iterator.next())
  }
  const takeLine = (): string | undefined => {
    const end = rest.indexOf('\n')
    if (end < 0) return undefined
    const line = rest.slice(0, end).replace(/\r$/, '')
    rest = rest.slice(end + 1)
    return line
  }
  return {
    async next(signal) {
      const early = kept.shift() ?? takeLine()
      if (early !== undefined) return early
      while (!ended) {
        const step = await (signal ? untilAborted(signal, readOn) : readOn())
        pending = undefined
        if (step.done) {
          ended = true
          rest += decoder.decode()
          break
        }
        rest += decoder.decode(step.value, { stream: true })
        if (rest.length > LONGEST_LINE && !rest.includes('\n'))
          throw new ToolError(
            'INVALID_INPUT',
            `a line on stdin is longer than ${LONGEST_LINE} characters`,
          )
        const line = takeLine()
        if (line !== undefined) return line
      }
      const last = rest.replace(/\r$/, '')
      rest = ''
      return last === '' ? undefined : last
    },
    putBack: (lines) => void kept.unshift(...lines),
  }
}
