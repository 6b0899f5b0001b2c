import type { TextSink } from '../../contract/io.ts'

const MUCH = 8 * 1024 * 1024

/** Writes messages, one a line; those that come close together leave together. */
export type Writer = {
  write(message: string): void
  /** Writes what may be left out, and leaves it out when the client is far behind. */
  offer(message: string): void
  /** A lot was written that is not read yet: take no more until it is gone. */
  readonly congested: boolean
  /** Resolves when everything is gone; rejects when it could not be written. */
  drained(): Promise<void>
}

/** A writer over stdout. `alone` says that no other answer is to be expected soon, so that there is nothing to wait for. */
export function createWriter(sink: TextSink, alone: () => boolean): Writer {
  let waiting = ''
  let written = 0
  let scheduled = false
  let draining: Promise<void> | undefined
  let failure: unknown
  const flush = (): void => {
    scheduled = false
    const text = waiting
    waiting = ''
    written += text.length
    sink.write(text)
    if (written > MUCH) draining ??= drain()
  }
  const drain = async (): Promise<void> => {
    try {
      await sink.flush()
    } catch (error) {
      failure = error
    }
    written = 0
    draining = undefined
  }
  const writer: Writer = {
    write(message) {
      waiting += `${message}\n`
      if (alone()) return flush()
      if (scheduled) return
      scheduled = true
      setImmediate(flush)
    },
    offer(message) {
      if (!writer.congested) writer.write(message)
    },
    get congested() {
      return draining !== undefined
    },
    async drained() {
      flush()
      await (draining ?? drain())
      if (failure) throw failure as Error
    },
  }
  return writer
}
