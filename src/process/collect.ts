import type { Readable } from 'node:stream'
import type { ChildOptions, ChildReason } from './child-type.ts'
import type { Held } from './hold-back.ts'
import { hold } from './hold-back.ts'
import { splitLines } from './lines.ts'

const MEBIBYTE = 1024 * 1024

/** What one pipe of a child brought. */
export type Collected = {
  bytes(): Buffer
  cut(): boolean
  /** Its listener of chunks, where it has one. */
  readonly listener: Held | undefined
  finish(): void
}

type Stop = (reason: ChildReason, cause?: Error) => void

/** Takes stdout, whole, in chunks or in lines; bytes are counted before anything looks at them, and too many end the child. */
export function collectOutput(
  pipe: Readable,
  { maxStdout = 64 * MEBIBYTE, maxLine = 16 * MEBIBYTE, onLine, onOutput }: ChildOptions,
  stop: Stop,
): Collected {
  const chunks: Buffer[] = []
  const listener = onOutput && hold(pipe, onOutput, (error) => stop('cancelled', error))
  const lines = onLine && splitLines(maxLine, guarded(onLine, stop))
  let seen = 0
  pipe.on('data', (chunk: Buffer) => {
    const room = Math.max(0, maxStdout - seen)
    seen += chunk.length
    const taken = chunk.length <= room ? chunk : chunk.subarray(0, room)
    if (listener) listener.take(taken)
    else if (!lines) chunks.push(taken)
    else if (!lines.push(taken)) stop('line-limit')
    if (taken !== chunk) stop('stdout-limit')
  })
  pipe.on('error', () => {})
  return {
    bytes: () => Buffer.concat(chunks),
    cut: () => seen > maxStdout,
    listener,
    finish: () => lines?.finish(),
  }
}

/** Keeps the beginning of stderr and reads the rest away, so that a child that complains a lot is never stuck. */
export function collectErrors(
  pipe: Readable,
  { maxStderr = MEBIBYTE, maxLine = 16 * MEBIBYTE, onErrorLine, onErrorOutput }: ChildOptions,
  stop: Stop,
): Collected {
  const chunks: Buffer[] = []
  const listener = onErrorOutput && hold(pipe, onErrorOutput, (error) => stop('cancelled', error))
  const lines = onErrorLine && splitLines(maxLine, guarded(onErrorLine, stop))
  let seen = 0
  pipe.on('data', (chunk: Buffer) => {
    if (seen < maxStderr) chunks.push(chunk.subarray(0, maxStderr - seen))
    seen += chunk.length
    if (listener) listener.take(chunk)
    else if (lines && !lines.push(chunk)) stop('line-limit')
  })
  pipe.on('error', () => {})
  return {
    bytes: () => Buffer.concat(chunks),
    cut: () => seen > maxStderr,
    listener,
    finish: () => lines?.finish(),
  }
}

// A listener that throws ends its child; a pipe has nobody above it who could catch.
function guarded(listener: (line: string) => void, stop: Stop): (line: string) => void {
  return (line) => {
    try {
      listener(line)
    } catch (error) {
      stop('cancelled', error instanceof Error ? error : new Error(String(error)))
    }
  }
}
