import type { TextSink } from '../../../contract/io.ts'

const MUCH = 8 * 1024 * 1024

/** Writes messages, one a line; those that come close together leave together. */
export type Writer = {
  write(message: string): void
  /** A lot was written: read no further until it is gone. */
  readonly congested: boolean
  drained(): Promise<void>
}

/** A writer over stdout. `alone` says that no other answer is to be expected soon, so that there is nothing to wait for. */
export function createWriter(sink: TextSink, alone: () => boolean): Writer {
  let waiting = ''
  let written = 0
  let scheduled = false
  const flush = (): void => {
    scheduled = false
    const text = waiting
    waiting = ''
    written += text.length
    sink.write(text)
  }
  return {
    write(message) {
      waiting += `${message}\n`
      if (alone()) return flush()
      if (scheduled) return
      scheduled = true
      setImmediate(flush)
    },
    get congested() { return written > MUCH },
    async drained() {
      flush()
      written = 0
      await sink.flush()
    },
  }
}
