/**
 * Reads the pipes of a child: byte limits, lines, and backpressure while a listener is still busy.
 */

import type { Readable } from 'node:stream'
import { MEBIBYTE } from '../util/units.ts'
import type { ChildOptions, ChildReason } from './child.ts'

/** What one pipe of a child brought. */
type CollectedOutput = {
  bytes(): Buffer
  isTruncated(): boolean
  /** Its listener of chunks, where it has one. */
  readonly listener: BackpressureListener | undefined
  finish(): void
}

type StopChild = (reason: ChildReason, cause?: Error) => void

/**
 * Takes stdout, whole, in chunks or in lines; bytes are counted before anything looks at them, and
 * too many end the child.
 */
export function collectOutput(
  pipe: Readable,
  { maxStdout = 64 * MEBIBYTE, maxLine = 16 * MEBIBYTE, onLine, onOutput }: ChildOptions,
  stop: StopChild,
): CollectedOutput {
  const chunks: Buffer[] = []
  const listener =
    onOutput && applyBackpressure(pipe, onOutput, (error) => stop('cancelled', error))
  const lines = onLine && splitLines(maxLine, guardListener(onLine, stop))
  let seen = 0
  pipe.on('data', (chunk: Buffer) => {
    const room = Math.max(0, maxStdout - seen)
    seen += chunk.length
    const taken = chunk.length <= room ? chunk : chunk.subarray(0, room)
    if (listener) listener.push(taken)
    else if (!lines) chunks.push(taken)
    else if (!lines.push(taken)) stop('line-limit')
    if (taken !== chunk) stop('stdout-limit')
  })
  pipe.on('error', () => {})
  return {
    bytes: () => Buffer.concat(chunks),
    isTruncated: () => seen > maxStdout,
    listener,
    finish: () => lines?.finish(),
  }
}

/**
 * Keeps the beginning of stderr and reads the rest away, so that a child that complains a lot is
 * never stuck.
 */
export function collectErrors(
  pipe: Readable,
  { maxStderr = MEBIBYTE, maxLine = 16 * MEBIBYTE, onErrorLine, onErrorOutput }: ChildOptions,
  stop: StopChild,
): CollectedOutput {
  const chunks: Buffer[] = []
  const listener =
    onErrorOutput && applyBackpressure(pipe, onErrorOutput, (error) => stop('cancelled', error))
  const lines = onErrorLine && splitLines(maxLine, guardListener(onErrorLine, stop))
  let seen = 0
  pipe.on('data', (chunk: Buffer) => {
    if (seen < maxStderr) chunks.push(chunk.subarray(0, maxStderr - seen))
    seen += chunk.length
    if (listener) listener.push(chunk)
    else if (lines && !lines.push(chunk)) stop('line-limit')
  })
  pipe.on('error', () => {})
  return {
    bytes: () => Buffer.concat(chunks),
    isTruncated: () => seen > maxStderr,
    listener,
    finish: () => lines?.finish(),
  }
}

// A listener that throws ends its child; a pipe has nobody above it who could catch.
function guardListener(listener: (line: string) => void, stop: StopChild): (line: string) => void {
  return (line) => {
    try {
      listener(line)
    } catch (error) {
      stop('cancelled', error instanceof Error ? error : new Error(String(error)))
    }
  }
}

/** A listener of a pipe that may take its time. */
export type BackpressureListener = {
  push(chunk: Buffer): void
  isPaused(): boolean
  /** Resolves when the listener is done with what it was given. */
  whenIdle(): Promise<void>
}

/**
 * Gives chunks to a listener and holds the pipe while a promise of it is pending, so that whoever
 * writes to the pipe has to wait. A listener that throws or rejects hears nothing more; what comes
 * then is read away.
 */
function applyBackpressure(
  pipe: Readable,
  listener: (chunk: Buffer) => void | Promise<void>,
  onFailure: (error: Error) => void,
): BackpressureListener {
  let pending: Promise<void> | undefined
  let broken = false
  const breakWith = (error: unknown): void => {
    if (broken) return
    broken = true
    onFailure(error instanceof Error ? error : new Error(String(error)))
  }
  return {
    push(chunk) {
      if (broken || chunk.length === 0) return
      try {
        const taken = listener(chunk)
        if (taken === undefined) return
        pipe.pause()
        const all = Promise.all([pending, taken.catch(breakWith)]).then(() => {
          if (pending !== all) return
          pending = undefined
          pipe.resume()
        })
        pending = all
      } catch (error) {
        breakWith(error)
      }
    },
    isPaused: () => pending !== undefined,
    whenIdle: () => pending ?? Promise.resolve(),
  }
}

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

type LineSplitter = {
  /** False as soon as a line is longer than it may be; everything after it is ignored. */
  push(chunk: Buffer): boolean
  /** Gives out a last line that has no end. */
  finish(): void
}

/**
 * Splits bytes into lines at `\n` and `\r\n` only, whatever the size of the chunks, and never holds
 * more than one line. Bytes that are no UTF-8 become U+FFFD.
 */
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
