import type { Redactor } from '../../process/redaction/create-redactor.ts'
import { boundDiagnostics } from './diagnostics.ts'
import type { Diagnostic } from './diagnostics.ts'
import { findWrongFields } from './event-fields.ts'
import { isRefused, judgeLine } from './judge-line.ts'
import type { ToolLine } from './judge-line.ts'
import { redactLines } from './redact-lines.ts'
import { splitOutput } from './split-output.ts'

const MEBIBYTE = 1024 * 1024
const ENDS: ReadonlySet<string> = new Set(['result', 'error', 'cancelled'])

export type ToolOutputOptions = {
  readonly runId: string
  /** Whether the tool may write `task_*`. */
  readonly mayOrchestrate: boolean
  /** Bytes of a line; the rest of a longer one is left out. Default 1 MiB. */
  readonly maxLine?: number
  /** Bytes of everything; what comes after them is left out. Default 256 MiB. */
  readonly maxBytes?: number
  /** Gets each event of the protocol, in order, `result`, `error` and `cancelled` included: one of them at most, and nothing after it. `text` is the line it was read from, where that says exactly the same. */
  readonly onEvent: (event: ToolLine, text?: string) => void
  readonly onDiagnostic: (diagnostic: Diagnostic) => void
  /** Gets each line that a program prints before its first event: a plain program, as long as no event comes. Without it, such lines are diagnostics. */
  readonly onPlain?: (line: string) => void
  /** Takes secrets out of plain lines and diagnostics; events are whole, and whoever writes them down has to do it. */
  readonly redactor?: Redactor
  /** Told once, when the tool has written more than it may. */
  readonly onLimit?: (limit: number) => void
}

export type ToolOutput = {
  push(chunk: Buffer): void
  /** The tool is over: a last line without its end counts. */
  finish(): void
  /** Whether an event has come. */
  readonly speaksProtocol: boolean
  /** Everything that was written, taken or not. */
  readonly bytes: number
}

/** Reads what a tool writes to stdout: lines of the run protocol, or the text of a plain program. Nothing it can write makes this throw; what is no event becomes a diagnostic. */
export function readToolOutput({
  runId,
  mayOrchestrate,
  maxLine = MEBIBYTE,
  maxBytes = 256 * MEBIBYTE,
  onEvent,
  onDiagnostic,
  onPlain,
  redactor,
  onLimit,
}: ToolOutputOptions): ToolOutput {
  const diagnostics = boundDiagnostics('stdout', onDiagnostic, redactor)
  const plain = onPlain && redactLines(onPlain, redactor)
  // Half a secret in escapes is not found in the text, and is found when the event is written anew.
  const hidesSecrets = redactor !== undefined && !redactor.isEmpty
  const rules = { runId, mayOrchestrate }
  let speaks = false
  let started = false
  let ended = false
  let bytes = 0

  const hear = (line: string): void => {
    const judged = judgeLine(line, rules)
    if (isRefused(judged)) {
      if (!speaks && plain && judged.reason !== 'forged') plain.line(line)
      else diagnostics.add(judged.reason, judged.message, line)
      return
    }
    if (!speaks) plain?.flush()
    speaks = true
    if (ended)
      return diagnostics.add(
        'late',
        `'${judged.type}' came after the end that the tool itself had told`,
        line,
      )
    if (judged.type === 'start' && started)
      return diagnostics.add('second_start', 'The tool has started already', line)
    started ||= judged.type === 'start'
    ended = ENDS.has(judged.type)
    const wrong = findWrongFields(judged)
    if (wrong === undefined)
      return hidesSecrets && line.includes('\\') ? onEvent(judged) : onEvent(judged, line)
    diagnostics.add(
      'wrong_field',
      `Left out: ${wrong.map(([name, kind]) => `${name} is not ${kind}`).join(', ')}`,
      line,
    )
    onEvent(without(judged, new Set(wrong.map(([name]) => name))))
  }

  const splitter = splitOutput(maxLine, {
    line: hear,
    broken(line) {
      if (!speaks) plain?.line(line)
      diagnostics.add('not_utf8', 'The line is not UTF-8', line)
    },
    long(beginning, length) {
      if (!speaks) plain?.cutLine(beginning)
      // What may be the beginning of a secret stays with the rest.
      diagnostics.add(
        'too_long',
        `The line has ${length} bytes, more than ${maxLine}; the rest is left out`,
        redactor?.stream().push(beginning) ?? beginning,
        length,
      )
    },
  })

  return {
    push(chunk) {
      const room = maxBytes - bytes
      bytes += chunk.length
      if (room < 0) return
      splitter.push(chunk.length <= room ? chunk : chunk.subarray(0, room))
      if (chunk.length > room) onLimit?.(maxBytes)
    },
    finish() {
      // A line that the limit cut is nobody's fault.
      if (bytes <= maxBytes) splitter.finish()
      plain?.flush()
      diagnostics.finish()
    },
    get speaksProtocol() {
      return speaks
    },
    get bytes() {
      return bytes
    },
  }
}

function without(event: ToolLine, names: ReadonlySet<string>): ToolLine {
  return Object.fromEntries(Object.entries(event).filter(([name]) => !names.has(name))) as ToolLine
}
