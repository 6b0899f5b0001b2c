/**
 * Reads the stdout of a tool: lines of the run protocol, or the plain text of a program that does
 * not speak it. Nothing a tool writes makes this throw.
 */

import { splitLines } from '../process/output.ts'
import type { Redactor } from '../process/redaction.ts'
import { PROTOCOL_EVENT_TYPES, RUNNER_EVENT_TYPES, TASK_EVENT_TYPES } from '../protocol/events.ts'
import { MEBIBYTE } from '../util/units.ts'
import { isDeeperThan, isObject, tryParseJson } from '../util/values.ts'
import type { DiagnosticReason, OutputDiagnostic } from './output-lines.ts'
import { createDiagnosticWriter, createOutputSplitter } from './output-lines.ts'

/** The events with which a tool ends its run. */
export const FINAL_EVENT_TYPES: ReadonlySet<string> = new Set(['result', 'error', 'cancelled'])

export type ToolOutputOptions = {
  readonly runId: string
  /** Whether the tool may write `task_*`. */
  readonly mayOrchestrate: boolean
  /** Bytes of a line; the rest of a longer one is left out. Default 1 MiB. */
  readonly maxLine?: number
  /** Bytes of everything; what comes after them is left out. Default 256 MiB. */
  readonly maxBytes?: number
  /**
   * Gets each event of the protocol, in order, `result`, `error` and `cancelled` included: one of
   * them at most, and nothing after it. `text` is the line it was read from, where that says
   * exactly the same.
   */
  readonly onEvent: (event: ToolLine, text?: string) => void
  readonly onDiagnostic: (diagnostic: OutputDiagnostic) => void
  /**
   * Gets each line that a program prints before its first event: a plain program, as long as no
   * event comes. Without it, such lines are diagnostics.
   */
  readonly onPlain?: (line: string) => void
  /**
   * Takes secrets out of plain lines and diagnostics; events are whole, and whoever writes them
   * down has to do it.
   */
  readonly redactor?: Redactor
  /** Called once, when the tool has written more than it may. */
  readonly onLimit?: (limit: number) => void
}

type ToolOutputReader = {
  push(chunk: Buffer): void
  /** The tool is over: a last line without its end counts. */
  finish(): void
  /** Whether an event has come. */
  readonly speaksProtocol: boolean
  /** Everything that was written, taken or not. */
  readonly bytes: number
}

/**
 * Reads what a tool writes to stdout: lines of the run protocol, or the text of a plain program.
 * Nothing it can write makes this throw; what is no event becomes a diagnostic.
 */
export function createToolOutputReader({
  runId,
  mayOrchestrate,
  maxLine = MEBIBYTE,
  maxBytes = 256 * MEBIBYTE,
  onEvent,
  onDiagnostic,
  onPlain,
  redactor,
  onLimit,
}: ToolOutputOptions): ToolOutputReader {
  const diagnostics = createDiagnosticWriter('stdout', onDiagnostic, redactor)
  const plain = onPlain && createLineRedactor(onPlain, redactor)
  // A partly escaped secret is not found in the text; it is found when the event is serialized
  // again.
  const hidesSecrets = redactor !== undefined && !redactor.isEmpty
  const rules = { runId, mayOrchestrate }
  let speaks = false
  let started = false
  let ended = false
  let bytes = 0

  const hear = (line: string): void => {
    const judged = parseToolLine(line, rules)
    if (isRejectedLine(judged)) {
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
    ended = FINAL_EVENT_TYPES.has(judged.type)
    const wrong = findInvalidFields(judged)
    if (wrong === undefined)
      return hidesSecrets && line.includes('\\') ? onEvent(judged) : onEvent(judged, line)
    diagnostics.add(
      'wrong_field',
      `Left out: ${wrong.map(([name, kind]) => `${name} is not ${kind}`).join(', ')}`,
      line,
    )
    onEvent(omitFields(judged, new Set(wrong.map(([name]) => name))))
  }

  const splitter = createOutputSplitter(maxLine, {
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
      // A line that was cut by the limit is not reported.
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

function omitFields(event: ToolLine, names: ReadonlySet<string>): ToolLine {
  return Object.fromEntries(Object.entries(event).filter(([name]) => !names.has(name))) as ToolLine
}

/** An event as a tool writes it. */
export type ToolLine = { readonly type: string; readonly [field: string]: unknown }

/** A line that is no event, and why. */
type RejectedLine = { readonly reason: DiagnosticReason; readonly message: string }

type EventAuthor = 'tool' | 'orchestrator' | 'runner'

const AUTHOR_BY_TYPE: ReadonlyMap<unknown, EventAuthor> = new Map<unknown, EventAuthor>([
  ...PROTOCOL_EVENT_TYPES.map((type) => [type, 'tool'] as const),
  ...TASK_EVENT_TYPES.map((type) => [type, 'orchestrator'] as const),
  ...RUNNER_EVENT_TYPES.map((type) => [type, 'runner'] as const),
])

/** Levels of lists and objects in one event; what writes JSON again is not made for thousands. */
const MAX_EVENT_DEPTH = 100

const EMPTY_LINE: RejectedLine = { reason: 'empty', message: 'The line is empty' }
const NOT_JSON: RejectedLine = { reason: 'not_json', message: 'The line is not JSON' }
const NOT_AN_OBJECT: RejectedLine = {
  reason: 'not_an_object',
  message: 'The line is JSON, but no object',
}
const NO_TYPE: RejectedLine = { reason: 'no_type', message: 'The line has no type' }
const TOO_DEEP: RejectedLine = {
  reason: 'too_deep',
  message: `The line nests more than ${MAX_EVENT_DEPTH} levels`,
}

/** Parses a line on its own: the event, or why it is none. */
function parseToolLine(
  line: string,
  { runId, mayOrchestrate }: { readonly runId: string; readonly mayOrchestrate: boolean },
): ToolLine | RejectedLine {
  const event = mayBeJson(line) ? tryParseJson(line) : undefined
  if (event === undefined) return line.trim() === '' ? EMPTY_LINE : NOT_JSON
  if (!isObject(event)) return NOT_AN_OBJECT
  const { type, v, run_id: ownRun } = event
  if (typeof type !== 'string') return NO_TYPE
  const speaker = AUTHOR_BY_TYPE.get(type)
  if (speaker === 'runner') return { reason: 'forged', message: `Only the runner writes '${type}'` }
  if (speaker === undefined)
    return { reason: 'unknown_type', message: 'The type is not one of the protocol' }
  if (ownRun !== undefined && ownRun !== runId)
    return { reason: 'forged', message: 'The line names another run' }
  if (v !== undefined && v !== 1)
    return {
      reason: 'wrong_version',
      message: 'The line is of another version of the protocol than 1',
    }
  if (speaker === 'orchestrator' && !mayOrchestrate)
    return { reason: 'not_an_orchestrator', message: `Only an orchestrator writes '${type}'` }
  // Each level takes two characters.
  if (line.length > 2 * MAX_EVENT_DEPTH && isDeeperThan(MAX_EVENT_DEPTH, event)) return TOO_DEEP
  return event as ToolLine
}

/** Whether a judgement is a refusal; an event has its type, and no refusal has one. */
function isRejectedLine(judged: ToolLine | RejectedLine): judged is RejectedLine {
  return !('type' in judged)
}

// A thrown error is expensive, and floods of text are common.
function mayBeJson(line: string): boolean {
  return line.charCodeAt(0) === 0x7b || /^[\t\r ]*[[{"\-\dtfn]/.test(line)
}

type FieldCheck = { readonly kind: string; readonly fits: (value: unknown) => boolean }

const TEXT_FIELD: FieldCheck = { kind: 'a text', fits: (value) => typeof value === 'string' }
const NUMBER_FIELD: FieldCheck = {
  kind: 'a finite number',
  fits: (value) => typeof value === 'number' && Number.isFinite(value),
}
const BOOLEAN_FIELD: FieldCheck = {
  kind: 'true or false',
  fits: (value) => typeof value === 'boolean',
}
const LIST_FIELD: FieldCheck = { kind: 'a list', fits: Array.isArray }
const OBJECT_FIELD: FieldCheck = { kind: 'an object', fits: isObject }
const FORBIDDEN_FIELD: FieldCheck = { kind: 'a field', fits: () => false }

/** What the fields of the protocol have to be; other fields are the tool's own. */
const FIELD_CHECKS: ReadonlyMap<string, FieldCheck> = new Map([
  ...[
    'ts',
    'run_id',
    'trace_id',
    'span_id',
    'step',
    'code',
    'level',
    'hint',
    'status',
    'action',
    'reason',
    'task_id',
    'uri',
    'path',
  ].map((name) => [name, TEXT_FIELD] as const),
  ...['pct', 'percent', 'eta_s'].map((name) => [name, NUMBER_FIELD] as const),
  ...['retryable', 'recoverable'].map((name) => [name, BOOLEAN_FIELD] as const),
  ['artifacts', LIST_FIELD],
  ['metrics', OBJECT_FIELD],
  ['__proto__', FORBIDDEN_FIELD],
])

/**
 * Fields of an event that are not what the protocol says, with what they should be; undefined where
 * all are right.
 */
function findInvalidFields(event: {
  readonly [field: string]: unknown
}): readonly (readonly [name: string, kind: string])[] | undefined {
  let wrong: (readonly [string, string])[] | undefined
  for (const name in event) {
    const check = FIELD_CHECKS.get(name)
    if (check !== undefined && !check.fits(event[name])) (wrong ??= []).push([name, check.kind])
  }
  return wrong
}

/** Removes secrets from lines. */
type LineRedactor = {
  line(line: string | Buffer): void
  /**
   * The beginning of a line whose rest is left out; what may be the beginning of a secret goes with
   * the rest.
   */
  cutLine(beginning: Buffer): void
  /** Gives out what was kept back because a secret might begin there. */
  flush(): void
}

/** Takes secrets out of lines, also those that go over several lines. */
function createLineRedactor(emit: (line: string) => void, redactor?: Redactor): LineRedactor {
  if (!redactor || redactor.isEmpty)
    return {
      line: (line) => emit(line.toString()),
      cutLine: (beginning) => emit(beginning.toString()),
      flush: () => undefined,
    }
  let stream = redactor.stream()
  const lines = splitLines(Infinity, emit)
  return {
    line(line) {
      lines.push(stream.push(Buffer.from(line as string)))
      lines.push(stream.push(LINE_END))
    },
    cutLine(beginning) {
      lines.push(stream.push(beginning))
      lines.finish()
      stream = redactor.stream()
    },
    flush() {
      lines.push(stream.finish())
      lines.finish()
    },
  }
}

const LINE_END = Buffer.from('\n')
