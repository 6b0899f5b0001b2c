/**
 * Reads the pipes of a child: byte limits, lines, and backpressure while a listener is still busy.
 */

import type { Readable } from 'node:stream'
import { LINE_FEED } from '../util/files.ts'
import { MEBIBYTE } from '../util/units.ts'
import type { ChildOptions, ChildReason } from './child.ts'

/** What one pipe of a child delivered. */
type CollectedOutput = {
  bytes(): Buffer
  isTruncated(): boolean
  /** Its listener of chunks, if it has one. */
  readonly listener: BackpressureListener | undefined
  finish(): void
}

type StopChild = (reason: ChildReason, cause?: Error) => void

/** Reads stdout: as a whole, in chunks or in lines. Too many bytes end the child. */
export function collectOutput(
  pipe: Readable,
  { maxStdout = 64 * MEBIBYTE, maxLine, onLine, onOutput }: ChildOptions,
  stop: StopChild,
): CollectedOutput {
  return collect(pipe, maxStdout, maxLine, onLine, onOutput, stop, true)
}

/** Keeps the beginning of stderr and drops the rest, so that a noisy child is never blocked. */
export function collectErrors(
  pipe: Readable,
  { maxStderr = MEBIBYTE, maxLine, onErrorLine, onErrorOutput }: ChildOptions,
  stop: StopChild,
): CollectedOutput {
  return collect(pipe, maxStderr, maxLine, onErrorLine, onErrorOutput, stop, false)
}

function collect(
  pipe: Readable,
  maxBytes: number,
  maxLine = 16 * MEBIBYTE,
  onLine: ChildOptions['onLine'],
  onChunk: ChildOptions['onOutput'],
  stop: StopChild,
  isStdout: boolean,
): CollectedOutput {
  const chunks: Buffer[] = []
  const listener = onChunk && applyBackpressure(pipe, onChunk, (error) => stop('cancelled', error))
  const lines = onLine && splitLines(maxLine, guardListener(onLine, stop))
  // Listeners replace the bytes of stdout, and get those of stderr besides.
  const isKept = !isStdout || (!listener && !lines)
  let seen = 0
  pipe.on('data', (chunk: Buffer) => {
    const room = Math.max(0, maxBytes - seen)
    seen += chunk.length
    const fitting = chunk.length <= room ? chunk : chunk.subarray(0, room)
    if (isKept && fitting.length > 0) chunks.push(fitting)
    const passed = isStdout ? fitting : chunk
    if (listener) listener.push(passed)
    else if (lines && !lines.push(passed)) stop('line-limit')
    if (passed !== chunk) stop('stdout-limit')
  })
  pipe.on('error', () => {})
  return {
    bytes: () => Buffer.concat(chunks),
    isTruncated: () => seen > maxBytes,
    listener,
    finish: () => lines?.finish(),
  }
}

// No caller could catch what a listener throws, so it ends the child.
function guardListener(listener: (line: string) => void, stop: StopChild): (line: string) => void {
  return (line) => {
    try {
      listener(line)
    } catch (error) {
      stop('cancelled', toError(error))
    }
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

/** An asynchronous listener of a pipe. */
export type BackpressureListener = {
  push(chunk: Buffer): void
  isPaused(): boolean
  /** Resolves when the listener has processed every chunk. */
  whenIdle(): Promise<void>
}

/**
 * Passes chunks to a listener and pauses the pipe while its promise is pending, so that the child
 * has to wait. After a listener throws or rejects, further chunks are dropped.
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
    onFailure(toError(error))
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

const CARRIAGE_RETURN = 0x0d

type LineSplitter = {
  /** Returns false once a line is too long; everything after it is ignored. */
  push(chunk: Buffer): boolean
  /** Emits a last line that does not end with a line feed. */
  finish(): void
}

/**
 * Splits bytes into lines at `\n` and `\r\n` only, and never buffers more than one line. Invalid
 * UTF-8 becomes U+FFFD.
 */
export function splitLines(maxLine: number, onLine: (line: string) => void): LineSplitter {
  let held: Buffer[] = []
  let heldBytes = 0
  let broken = false

  const emitLine = (chunk: Buffer, start: number, end: number): void => {
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
        else if (end !== -1) emitLine(chunk, start, end)
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
      if (!broken && heldBytes > 0) emitLine(Buffer.alloc(0), 0, 0)
    },
  }
}
