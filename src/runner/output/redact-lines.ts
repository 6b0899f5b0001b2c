import { splitLines } from '../../process/lines.ts'
import type { Redactor } from '../../process/redaction/create-redactor.ts'

/** Lines on their way to somebody who may not see secrets. */
export type RedactedLines = {
  line(line: string | Buffer): void
  /** The beginning of a line whose rest is left out; what may be the beginning of a secret goes with the rest. */
  cutLine(beginning: Buffer): void
  /** Gives out what was kept back because a secret might begin there. */
  flush(): void
}

/** Takes secrets out of lines, also those that go over several lines. */
export function redactLines(tell: (line: string) => void, redactor?: Redactor): RedactedLines {
  if (!redactor || redactor.isEmpty)
    return {
      line: (line) => tell(line.toString()),
      cutLine: (beginning) => tell(beginning.toString()),
      flush: () => undefined,
    }
  let stream = redactor.stream()
  const lines = splitLines(Infinity, tell)
  const line = (one: string | Buffer): void =>
    void lines.push(stream.push(Buffer.concat([Buffer.from(one as string), LINE_FEED])))
  const flush = (): void => {
    lines.push(stream.finish())
    lines.finish()
  }
  return {
    line,
    cutLine(beginning) {
      lines.push(stream.push(beginning))
      lines.finish()
      stream = redactor.stream()
    },
    flush,
  }
}

const LINE_FEED = Buffer.from('\n')
