/**
 * Records of a journal: their format, and reading and writing their lines. The keys are a file
 * format.
 */

import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { ToolError } from '../../protocol/tool-error.ts'
import { toDiskError } from '../../runner/files.ts'
import { readWholeLines } from '../../runner/log-reader.ts'
import { hasErrorCode, LINE_FEED } from '../../util/files.ts'
import { MEBIBYTE } from '../../util/units.ts'
import { compact, isObject, tryParseJson } from '../../util/values.ts'
import type { Workflow } from '../definition/model.ts'
import type {
  EndState,
  Execution,
  OperationOutcome,
  StepError,
  WorkflowQuestion,
} from '../engine.ts'
import { getEndState, toStepError } from '../engine.ts'

/** The version of the format. Newer ones are rejected. */
const JOURNAL_VERSION = 1

/** A definition, once for all the executions of a file that have it. */
type DefineRecord = { readonly t: 'define'; readonly h: string; readonly d: Workflow }
/**
 * An execution begins: `w` is its id, `h` and `n` the hash and the name of its definition, `i` its
 * input.
 */
export type BeginRecord = {
  readonly t: 'begin'
  readonly w: string
  readonly h: string
  readonly n: string
  readonly at: string
  readonly i: unknown
}
/** The outcome of the operation with the key `k`: a value or an error, and its run. */
export type DoneRecord = {
  readonly t: 'done'
  readonly w: string
  readonly k: string
  readonly v?: unknown
  readonly e?: StepError
  readonly r?: string
  readonly by?: string
  readonly ms?: number
}
type AskRecord = {
  readonly t: 'ask'
  readonly w: string
  readonly k: string
  readonly q: WorkflowQuestion
}
/** A sleep has begun; a restart does not begin it again. */
type SleepRecord = {
  readonly t: 'sleep'
  readonly w: string
  readonly k: string
  readonly until: string
}
type CancelRecord = { readonly t: 'cancel'; readonly w: string; readonly reason: string }
export type EndRecord = {
  readonly t: 'end'
  readonly w: string
  readonly s: EndState
  readonly v?: unknown
  readonly e?: StepError
  readonly at: string
}
/** The execution continues as a run; no more of its records follow here. */
export type MovedRecord = { readonly t: 'moved'; readonly w: string; readonly at: string }

/** What happens to one execution after its begin. */
export type ExecutionRecord =
  DoneRecord | AskRecord | SleepRecord | CancelRecord | EndRecord | MovedRecord
export type JournalRecord = DefineRecord | BeginRecord | ExecutionRecord

/** No line is longer, so that readers need a bounded amount of memory. */
export const MAX_RECORD_BYTES = 16 * MEBIBYTE

const RECORD_TYPES: ReadonlySet<unknown> = new Set<JournalRecord['t']>([
  'define',
  'begin',
  'done',
  'ask',
  'sleep',
  'cancel',
  'end',
  'moved',
])

/** Whether a parsed line is a record; what else is in it is not looked at. */
export function isJournalRecord(value: unknown): value is JournalRecord {
  return (
    isObject(value) &&
    RECORD_TYPES.has(value['t']) &&
    (value['t'] === 'define' ? typeof value['h'] === 'string' : typeof value['w'] === 'string')
  )
}

/**
 * The line of a record. Throws OUTPUT_LIMIT for one that is too long, INTERNAL for one that is no
 * JSON.
 */
export function serializeRecord(record: JournalRecord): string {
  return toRecordLine(stringifyOrThrow(record), record.t)
}

/** The line of a begin whose input is serialized already. */
export function serializeBegin({ w, h, n, at }: Omit<BeginRecord, 'i'>, input: string): string {
  return toRecordLine(
    `{"t":"begin","w":"${w}","h":"${h}","n":${JSON.stringify(n)},"at":"${at}","i":${input}}`,
    'input',
  )
}

/** The line of an outcome whose value is serialized already. */
export function serializeDone(
  id: string,
  key: string,
  outcome: OperationOutcome,
  value: string | undefined,
  by?: string,
): string {
  let line = `{"t":"done","w":"${id}","k":${JSON.stringify(key)}`
  if (!outcome.ok) return toRecordLine(`${line},"e":${stringifyOrThrow(outcome.error)}}`, key)
  if (value !== undefined) line += `,"v":${value}`
  if (outcome.run_id !== undefined) line += `,"r":${JSON.stringify(outcome.run_id)}`
  if (by !== undefined) line += `,"by":${JSON.stringify(by)}`
  return toRecordLine(`${line}}`, key)
}

/** The outcome in a record. */
export function getDoneOutcome({ v, e, r }: DoneRecord): OperationOutcome {
  return e === undefined
    ? { ok: true, value: v, ...compact({ run_id: r }) }
    : { ok: false, error: e }
}

/**
 * A value as JSON; undefined for what JSON leaves out. Throws INTERNAL for what cannot be written.
 */
export function stringifyOrThrow(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (error) {
    throw new ToolError(
      'INTERNAL',
      `this is no JSON, and cannot be kept: ${(error as Error).message}`,
      { cause: error },
    )
  }
}

function toRecordLine(text: string | undefined, what: string): string {
  // A character takes up to three bytes: most lines need not be measured.
  if (
    text !== undefined &&
    (text.length * 3 < MAX_RECORD_BYTES || Buffer.byteLength(text) < MAX_RECORD_BYTES)
  )
    return `${text}\n`
  throw new ToolError(
    'OUTPUT_LIMIT',
    `what '${what}' gives is longer than a journal keeps: ${MAX_RECORD_BYTES / MEBIBYTE} MB`,
    { suggestion: 'Write it to a file, and give the path of it' },
  )
}

/**
 * The record that ends an execution, and its line. An output that is too long is a failure that is
 * recorded: without a record it would be retried without end.
 */
export function createEndRecord(
  w: string,
  outcome: OperationOutcome,
  at: string,
): { readonly end: EndRecord; readonly line: string } {
  try {
    const s = getEndState(outcome)
    const end: EndRecord = outcome.ok
      ? { t: 'end', w, s, at, v: outcome.value }
      : { t: 'end', w, s, at, e: outcome.error }
    return { end, line: serializeRecord(end) }
  } catch (error) {
    const end: EndRecord = { t: 'end', w, s: 'failed', at, e: toStepError(error) }
    return { end, line: serializeRecord(end) }
  }
}

/** An execution that is over, from its first and its last record. */
export function toFinishedExecution(
  begin: Omit<BeginRecord, 'i'>,
  { s: state, v, e, at: ended }: EndRecord,
): Execution {
  const head = { ...toExecutionHead(begin), state, ended }
  return e === undefined ? { ...head, result: v ?? null } : { ...head, error: e }
}

/** An execution that is not over. */
export function toOpenExecution(
  begin: Omit<BeginRecord, 'i' | 't'>,
  questions: readonly WorkflowQuestion[],
): Execution {
  const head = toExecutionHead(begin)
  if (questions.length === 0) return { ...head, state: 'running' }
  return { ...head, state: 'waiting_ai', questions }
}

/** The fields of an execution that never change. */
export function toExecutionHead({
  w: id,
  n: name,
  h: hash,
  at: created,
}: Omit<BeginRecord, 'i' | 't'>): Pick<Execution, 'id' | 'name' | 'hash' | 'created'> {
  return { id, name, hash, created }
}

/** The error for one that cannot be changed any more. */
export function createOverError(id: string): ToolError {
  return new ToolError('CONFLICT', `${id} is over`, {
    suggestion: 'Look at it: toolable workflow list',
  })
}

/** The first line of every journal. */
export const JOURNAL_HEADER = `{"t":"journal","v":${JOURNAL_VERSION}}\n`

const { O_NOFOLLOW, O_NONBLOCK } = constants

/**
 * Opens a file for a journal. Links, pipes and folders, which would lead elsewhere, are refused as
 * CONFIG; ENOENT and EEXIST are thrown as they are.
 */
export async function openJournalFile(path: string, flags: number): Promise<FileHandle> {
  const { open } = await import('node:fs/promises')
  try {
    const file = await open(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o600)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT', 'EEXIST')) throw error
    if (!hasErrorCode(error, 'ELOOP', 'ENXIO', 'EISDIR'))
      throw toDiskError(error, `cannot open ${path}`)
  }
  throw new ToolError('CONFIG', `${path} is no journal: it is a link, a folder or a device`, {
    suggestion: 'Move it away',
  })
}

/**
 * Reads the records of a journal from its beginning, and returns where the last whole line ends.
 * Throws CONFIG for a newer version, and for a foreign line, with its number.
 */
export async function readJournal(
  file: FileHandle,
  path: string,
  take: (record: JournalRecord) => void,
): Promise<number> {
  let number = 0
  let end = 0
  for await (const piece of readWholeLines(file, 0)) {
    for (let from = 0; from < piece.bytes.length;) {
      const to = piece.bytes.indexOf(LINE_FEED, from)
      number += 1
      if (number === 1) checkJournalHeader(piece.bytes.toString('utf8', from, to), path)
      else take(parseJournalRecord(piece.bytes, from, to, path, number))
      from = to + 1
    }
    end = piece.end
  }
  return end
}

/**
 * Checks the first line of a journal. Throws CONFIG for a newer version, and for what is no journal
 * at all.
 */
export function checkJournalHeader(line: string, path: string): void {
  const value = tryParseJson(line) as
    { readonly t?: unknown; readonly v?: unknown } | null | undefined
  if (value?.t !== 'journal' || !Number.isSafeInteger(value.v))
    throw new ToolError('CONFIG', `${path} is no journal: its first line is not one of ours`, {
      suggestion: 'Move the file away',
      details: { file: path, line: 1 },
    })
  if (value.v !== JOURNAL_VERSION)
    throw new ToolError(
      'CONFIG',
      `${path} was written by a newer version: its form is ${String(value.v)}, and this one knows ${JOURNAL_VERSION}`,
      {
        suggestion: 'Use the version of toolable that wrote it, or a newer one',
        details: { file: path, version: value.v },
      },
    )
}

function parseJournalRecord(
  bytes: Buffer,
  from: number,
  to: number,
  path: string,
  number: number,
): JournalRecord {
  const value =
    to - from > MAX_RECORD_BYTES ? undefined : tryParseJson(bytes.toString('utf8', from, to))
  if (isJournalRecord(value)) return value
  throw new ToolError(
    'CONFIG',
    `line ${number} of ${path} is no record of a workflow: something else has written there`,
    {
      suggestion: `Look at the line: sed -n ${number}p '${path}'. Put the file back from a copy, or move it away`,
      details: { file: path, line: number },
    },
  )
}
