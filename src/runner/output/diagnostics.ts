import { shorten } from '../../contract/shorten.ts'
import type { Redactor } from '../../process/redaction/create-redactor.ts'

/** Why a line of a tool is no event; `stderr` is what it wrote there, `more` tells how many are not recorded. */
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
export type Diagnostic = {
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
const MOST = 1000
const LONGEST_EXCERPT = 400

export type DiagnosticWriter = {
  add(reason: DiagnosticReason, message: string, line?: string | Buffer, bytes?: number): void
  /** Tells how many were left out. */
  finish(): void
}

/** Passes on the first thousand diagnostics and counts the others, so that a flood of bad lines does not become a flood of good ones. */
export function boundDiagnostics(
  stream: Diagnostic['stream'],
  tell: (diagnostic: Diagnostic) => void,
  redactor?: Redactor,
): DiagnosticWriter {
  let seen = 0
  return {
    add(reason, message, line, bytes) {
      seen += 1
      if (seen > MOST) return
      tell({
        stream,
        reason,
        ...(reason !== 'stderr' && { msg: message }),
        ...(line !== undefined && {
          line: excerpt(line, redactor),
          bytes: bytes ?? Buffer.byteLength(line),
        }),
      })
    },
    finish() {
      const count = seen - MOST
      if (count > 0)
        tell({
          stream,
          reason: 'more',
          msg: `${count} more lines like these are not recorded`,
          count,
        })
    },
  }
}

// Secrets go before the cut, which would leave half of one. Copied, because a part of a text keeps the whole text in memory.
function excerpt(line: string | Buffer, redactor: Redactor | undefined): string {
  const whole = redactor && !redactor.isEmpty ? redactor.text(line.toString()) : line
  const start =
    typeof whole === 'string'
      ? Buffer.from(whole.slice(0, LONGEST_EXCERPT + 1))
      : whole.subarray(0, 4 * LONGEST_EXCERPT)
  return shorten(start.toString(), LONGEST_EXCERPT)
}
