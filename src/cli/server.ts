/**
 * What all servers share: their life in the process, a log of faults on stderr, and messages as
 * lines on stdin and stdout.
 */

import { failCurrentCall } from '../core/call-scope.ts'
import { onAbort } from '../core/lifecycle.ts'
import type { Servable } from '../core/provider.ts'
import type { CallEvent } from '../protocol/events.ts'
import type { Io, TextSink } from '../protocol/io.ts'
import type { Outcome } from '../protocol/outcome.ts'
import { formatNotificationJson, formatNotificationText } from './formats/envelope.ts'
import type { ServerLifecycle } from './types.ts'

const FINAL_WRITE_TIMEOUT_MS = 2_000

/**
 * How a server lives in its process: an error that a handler leaves unhandled fails the call that
 * it belongs to, is told on stderr, and ends nothing else.
 */
export function createServerLifecycle(io: Io, json: boolean, grace: number): ServerLifecycle {
  return {
    shutdownTimeoutMs: grace + FINAL_WRITE_TIMEOUT_MS,
    onCrash(error) {
      failCurrentCall(error)
      logError(io, json, error.message)
    },
  }
}

/**
 * The same toolset, whose operator hears on stderr of every call that failed by a fault of the tool
 * itself.
 */
export function withFaultLog(set: Servable, io: Io, json: boolean): Servable {
  const look = createFaultLogger(io, json)
  const call: Servable['call'] = async (...given) => {
    const outcome = await set.call(...given)
    look(outcome)
    return outcome
  }
  const stream: Servable['stream'] = (...given) => logEventFaults(set.stream(...given), look)
  // Everything else, what is added later included, is the toolset's own.
  return Object.create(set, { call: { value: call }, stream: { value: stream } }) as Servable
}

/** Tells the operator on stderr of a call that failed by a fault of the tool itself. */
export function createFaultLogger(io: Io, json: boolean): (outcome: Outcome) => void {
  return (outcome) => {
    if (!outcome.ok && outcome.error.code === 'INTERNAL')
      logError(io, json, `${outcome.meta.tool}: ${outcome.error.message}`)
  }
}

async function* logEventFaults(
  events: AsyncIterable<CallEvent>,
  look: (outcome: Outcome) => void,
): AsyncIterable<CallEvent> {
  for await (const event of events) {
    if (event.type === 'result') look(event)
    yield event
  }
}

function logError(io: Io, json: boolean, message: string): void {
  const event = { type: 'log', level: 'error', message } as const
  io.stderr.write(`${json ? formatNotificationJson(event) : formatNotificationText(event)}\n`)
}

/**
 * Hands over each line of stdin until it ends or the signal aborts; takes no more while the reader
 * of our answers is far behind.
 */
export async function forEachStdinLine(
  io: Io,
  signal: AbortSignal,
  writer: Pick<LineWriter, 'congested' | 'drained'>,
  take: (line: Buffer | 'too long') => void,
): Promise<void> {
  const cutter = new BoundedLineSplitter()
  const stopReading = onAbort(signal, () => io.stdin.close())
  try {
    const cut = (chunk: Uint8Array): Promise<void> | undefined => {
      for (const line of cutter.push(chunk)) take(line)
      return writer.congested ? writer.drained() : undefined
    }
    if (io.stdin.each) await io.stdin.each(cut)
    else for await (const chunk of io.stdin.bytes()) await cut(chunk)
    const last = cutter.end()
    if (last) take(last)
  } finally {
    stopReading()
  }
}

const NEWLINE = 10
const CARRIAGE_RETURN = 13
const MAX_LINE_BYTES = 32 * 1024 * 1024

/**
 * Cuts bytes into lines, without their ends and empty ones. A line that never ends is not kept:
 * `too long` stands for it.
 */
class BoundedLineSplitter {
  #rest: Buffer[] = []
  #length = 0
  #skipping = false

  constructor(readonly maxBytes = MAX_LINE_BYTES) {}

  /** The lines that end in this chunk. */
  push(chunk: Uint8Array): (Buffer | 'too long')[] {
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
    return line.length > 1 || (line.length === 1 && line[0] !== CARRIAGE_RETURN) ? line : undefined
  }

  #keep(piece: Buffer): boolean {
    this.#length += piece.length
    if (this.#length <= this.maxBytes) {
      this.#rest.push(piece)
      return true
    }
    this.#rest = []
    this.#length = 0
    this.#skipping = true
    return false
  }
}

const MAX_UNREAD_CHARS = 8 * 1024 * 1024

/** Writes messages, one a line; those that come close together leave together. */
export type LineWriter = {
  write(message: string): void
  /** Writes what may be left out, and leaves it out when the client is far behind. */
  offer(message: string): void
  /** A lot was written that is not read yet: take no more until it is gone. */
  readonly congested: boolean
  /** Resolves when everything is gone; rejects when it could not be written. */
  drained(): Promise<void>
}

/**
 * A writer over stdout. While at most one request is `running`, no other answer is to be expected
 * soon, so nothing is held back.
 */
export function createLineWriter(sink: TextSink, load: { readonly running: number }): LineWriter {
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
    if (written > MAX_UNREAD_CHARS) draining ??= drain()
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
  const writer: LineWriter = {
    write(message) {
      waiting += `${message}\n`
      if (load.running <= 1) return flush()
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

/** Waits until something is so. Whoever may have made it so tells. */
export class ConditionWaiter {
  #look: (() => void) | undefined

  /** Something has changed. */
  notify(): void {
    this.#look?.()
  }

  /** Resolves when it is so, after a time, or when the signal aborts. */
  async wait(isSo: () => boolean, milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (isSo()) return
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        stopListening?.()
        this.#look = undefined
        resolve()
      }
      const timer = setTimeout(end, milliseconds)
      const stopListening = signal && onAbort(signal, end)
      this.#look = () => {
        if (isSo()) end()
      }
    })
  }
}
