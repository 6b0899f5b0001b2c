/**
 * Splits tool output into lines of bounded length, and reports lines that are no events as
 * diagnostics, up to a limit.
 */

import { isUtf8 } from 'node:buffer'
import type { Redactor } from '../process/redaction.ts'
import { LINE_FEED } from '../util/files.ts'
import { shorten } from '../util/text.ts'
import { compact } from '../util/values.ts'

const CARRIAGE_RETURN = 0x0d
const MIN_BUFFER_BYTES = 4096

/** Who hears about lines, without their ends. */
type OutputLineListener = {
  line(text: string): void
  /** A line that is no UTF-8. */
  broken(bytes: Buffer): void
  /** A line that is longer than it may be: its beginning, and how long it was. */
  long(beginning: Buffer, length: number): void
}

type OutputSplitter = {
  push(chunk: Buffer): void
  /** Gives out a last line that has no end. */
  finish(): void
}

/**
 * Splits bytes into lines at `\n` and `\r\n` only. Of a line that is too long the rest is read
 * away, and the next one is whole again; never more than one line is held.
 */
export function createOutputSplitter(
  maxLine: number,
  listener: OutputLineListener,
): OutputSplitter {
  const held = createLineBuffer(maxLine)

  const giveOut = (bytes: Buffer): void => {
    const line = bytes.at(-1) === CARRIAGE_RETURN ? bytes.subarray(0, -1) : bytes
    if (line.length > maxLine) listener.long(line.subarray(0, maxLine), line.length)
    else if (isUtf8(line)) listener.line(line.toString())
    else listener.broken(line)
  }
  const giveHeld = (): void => {
    // One more is held, because it may be a carriage return.
    if (held.length() > maxLine + 1) listener.long(held.bytes().subarray(0, maxLine), held.length())
    else giveOut(held.bytes())
    held.clear()
  }
  const giveAll = (bytes: Buffer): void => {
    // The usual case, many times as fast: everything is text, and no line can be too long.
    if (bytes.length <= maxLine && isUtf8(bytes)) {
      for (const line of bytes.toString().split('\n'))
        listener.line(
          line.charCodeAt(line.length - 1) === CARRIAGE_RETURN ? line.slice(0, -1) : line,
        )
      return
    }
    let start = 0
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      giveOut(bytes.subarray(start, end))
      start = end + 1
    }
    giveOut(bytes.subarray(start))
  }

  return {
    push(chunk) {
      let start = 0
      if (held.length() > 0) {
        const end = chunk.indexOf(LINE_FEED)
        held.add(end === -1 ? chunk : chunk.subarray(0, end))
        if (end === -1) return
        giveHeld()
        start = end + 1
      }
      const last = chunk.lastIndexOf(LINE_FEED)
      if (last >= start) giveAll(chunk.subarray(start, last))
      held.add(chunk.subarray(Math.max(start, last + 1)))
    },
    finish() {
      if (held.length() > 0) giveHeld()
    },
  }
}

type LineBuffer = { add(bytes: Buffer): void; bytes(): Buffer; length(): number; clear(): void }

/**
 * The beginning of a line, in one piece of memory however small the chunks are, and never more than
 * may be kept of it.
 */
function createLineBuffer(maxLine: number): LineBuffer {
  let room = Buffer.alloc(0)
  let length = 0
  return {
    add(bytes) {
      const kept = Math.min(bytes.length, Math.max(0, maxLine + 1 - length))
      if (kept > room.length - length && kept > 0) {
        const larger = Buffer.allocUnsafe(
          Math.min(maxLine + 1, Math.max(MIN_BUFFER_BYTES, 2 * (length + kept))),
        )
        room.copy(larger, 0, 0, length)
        room = larger
      }
      if (kept > 0) bytes.copy(room, length, 0, kept)
      length += bytes.length
    },
    bytes: () => room.subarray(0, Math.min(length, room.length)),
    length: () => length,
    clear() {
      length = 0
      if (room.length > 16 * MIN_BUFFER_BYTES) room = Buffer.alloc(0)
    },
  }
}

/**
 * Why a line of a tool is no event; `stderr` is what it wrote there, `more` tells how many are not
 * recorded.
 */
export const DIAGNOSTIC_REASONS = [
  'not_json',
  'not_an_object',
  'no_type',
  'unknown_type',
  'wrong_version',
  'too_deep',
  'not_utf8',
  'too_long',
  'empty',
  'forged',
  'not_an_orchestrator',
  'second_start',
  'late',
  'wrong_field',
  'more',
  'stderr',
] as const
export type DiagnosticReason = (typeof DIAGNOSTIC_REASONS)[number]

/** What the log says about output that is no event. */
export type OutputDiagnostic = {
  readonly stream: 'stdout' | 'stderr'
  readonly reason: DiagnosticReason
  readonly msg?: string
  /** The beginning of the line. */
  readonly line?: string
  /** How long the line was. */
  readonly bytes?: number
  /** For `more`: how many were left out. */
  readonly count?: number
}

/** How many of them a run records, and how much of each line. */
const MAX_DIAGNOSTICS = 1000
const MAX_EXCERPT_LENGTH = 400

type DiagnosticWriter = {
  add(reason: DiagnosticReason, message: string, line?: string | Buffer, bytes?: number): void
  /** Tells how many were left out. */
  finish(): void
}

/**
 * Passes on the first thousand diagnostics and counts the others, so that a flood of bad lines does
 * not become a flood of good ones.
 */
export function createDiagnosticWriter(
  stream: OutputDiagnostic['stream'],
  report: (diagnostic: OutputDiagnostic) => void,
  redactor?: Redactor,
): DiagnosticWriter {
  let seen = 0
  return {
    add(reason, message, line, bytes) {
      seen += 1
      if (seen > MAX_DIAGNOSTICS) return
      report(
        compact({
          stream,
          reason,
          msg: reason === 'stderr' ? undefined : message,
          line: line === undefined ? undefined : toExcerpt(line, redactor),
          bytes: line === undefined ? undefined : (bytes ?? Buffer.byteLength(line)),
        }),
      )
    },
    finish() {
      const count = seen - MAX_DIAGNOSTICS
      if (count > 0)
        report({
          stream,
          reason: 'more',
          msg: `${count} more lines like these are not recorded`,
          count,
        })
    },
  }
}

// Secrets go before the cut, which would leave half of one. Copied, because a part of a text keeps
// the whole text in memory.
function toExcerpt(line: string | Buffer, redactor: Redactor | undefined): string {
  const whole = redactor && !redactor.isEmpty ? redactor.text(line.toString()) : line
  const start =
    typeof whole === 'string'
      ? Buffer.from(whole.slice(0, MAX_EXCERPT_LENGTH + 1))
      : whole.subarray(0, 4 * MAX_EXCERPT_LENGTH)
  return shorten(start.toString(), MAX_EXCERPT_LENGTH)
}
