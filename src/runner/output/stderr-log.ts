import { constants } from 'node:fs'
import type { ToolEvent } from '../../contract/events.ts'
import type { Redactor } from '../../process/redaction/create-redactor.ts'
import { readNotification } from '../../registry/child/answer/read-event.ts'
import { boundDiagnostics } from './diagnostics.ts'
import type { Diagnostic } from './diagnostics.ts'
import { splitOutput } from './split-output.ts'

const LONGEST_LINE = 64 * 1024
const TAIL = 4096
/** Bytes that may wait for the disk before the tool has to. */
const MOST_WAITING = 1024 * 1024

/** What a tool writes to stderr, on its way to a file and to whoever listens. */
export type StderrLog = {
  /** A promise where the disk is behind. Never throws or rejects. */
  push(chunk: Buffer): void | Promise<void>
  /** Everything is written and the file is closed. Never rejects: `problem` tells. */
  finish(): Promise<void>
  /** The end of it, for messages. */
  tail(): string
  /** Bytes that did not fit in, or that could not be written. */
  readonly dropped: number
  /** Why the file is not whole. */
  readonly problem: Error | undefined
}

export type StderrListener = {
  readonly onDiagnostic?: (diagnostic: Diagnostic) => void
  /** Gets what a tool tells in the form of a notification. */
  readonly onEvent?: (event: ToolEvent) => void
}

/** Opens the file for stderr of a run; what an earlier attempt wrote stays and counts. It takes no more than `cap` bytes, without secrets; the rest is read and counted. Rejects where the file cannot be opened. */
export async function openStderrLog(
  path: string,
  cap: number,
  redactor: Redactor,
  { onDiagnostic, onEvent }: StderrListener = {},
): Promise<StderrLog> {
  const { open } = await import('node:fs/promises')
  const file = await open(
    path,
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW,
    0o600,
  )
  const stream = redactor.stream()
  const diagnostics = onDiagnostic && boundDiagnostics('stderr', onDiagnostic, redactor)
  const tellText = (text: string | Buffer, length?: number): void =>
    diagnostics?.add('stderr', 'The tool wrote this to stderr', text, length)
  const lines = splitOutput(LONGEST_LINE, {
    line(text) {
      const event = onEvent && readNotification(text)
      if (event) onEvent(event)
      else if (text.trim() !== '') tellText(text)
    },
    broken: tellText,
    long: tellText,
  })
  let room = cap - (await file.stat()).size
  let tail = Buffer.alloc(0)
  let waiting = 0
  let dropped = 0
  let problem: Error | undefined
  let written = Promise.resolve()

  const write = async (bytes: Buffer): Promise<void> => {
    try {
      if (problem) dropped += bytes.length
      else await file.appendFile(bytes)
    } catch (error) {
      problem = error as Error
      dropped += bytes.length
    } finally {
      waiting -= bytes.length
    }
  }
  const take = (bytes: Buffer): void => {
    const kept = bytes.subarray(0, Math.max(0, room))
    dropped += bytes.length - kept.length
    room -= kept.length
    if (bytes.length > 0) tail = Buffer.concat([tail, bytes.subarray(-TAIL)]).subarray(-TAIL)
    if (kept.length === 0) return
    lines.push(kept)
    waiting += kept.length
    written = written.then(() => write(kept))
  }
  return {
    push(chunk) {
      take(stream.push(chunk))
      return waiting > MOST_WAITING ? written : undefined
    },
    async finish() {
      take(stream.finish())
      lines.finish()
      diagnostics?.finish()
      await written
      await file.close().catch((error: unknown) => {
        problem ??= error as Error
      })
    },
    tail: () => tail.toString(),
    get dropped() {
      return dropped
    },
    get problem() {
      return problem
    },
  }
}
