/**
 * Reads the executions of a folder: from the index, and from the parts of segments that the index
 * does not cover yet.
 */

import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs'
import { ToolError } from '../../protocol/tool-error.ts'
import { toDiskError } from '../../runner/files.ts'
import { readWholeLines } from '../../runner/log-reader.ts'
import { hasErrorCode, LINE_FEED } from '../../util/files.ts'
import { writeFileAtomic } from '../../util/lock-file.ts'
import { parseJsonObject } from '../../util/values.ts'
import type { Workflow } from '../definition/model.ts'
import type { EndState } from '../engine.ts'
import type {
  BeginRecord,
  EndRecord,
  ExecutionRecord,
  JournalRecord,
  MovedRecord,
} from './journal-records.ts'
import { isJournalRecord, openJournalFile } from './journal-records.ts'
import type { InlinePaths } from './segment-files.ts'
import { getSegmentOwner, getSegmentPaths, listSegments } from './segment-files.ts'

/**
 * All executions of a folder, by id. What the index does not cover yet is read from the segments,
 * and added to the index if no process writes them.
 */
export async function readExecutionIndex(
  paths: InlinePaths,
): Promise<Map<string, IndexedExecution>> {
  // Read before the segments, which only grow: a segment that is shorter than the index says has
  // lost what the machine had not written yet.
  const known = parseIndex(readIndexText(paths.index))
  const segments = listSegments(paths).map((name) => ({
    name,
    path: getSegmentPaths(paths, name).journal,
  }))
  const sizes = new Map(
    segments.map(({ name, path }) => [name, statSync(path, { throwIfNoEntry: false })?.size ?? 0]),
  )
  const isSound =
    known !== undefined &&
    [...known.covered].every(([name, to]) => (sizes.get(name) ?? Infinity) >= to)
  const { listed, covered } = isSound
    ? known
    : { listed: new Map<string, IndexedExecution>(), covered: new Map<string, number>() }
  let news = ''
  for (const { name, path } of segments) {
    const from = covered.get(name) ?? 0
    if (sizes.get(name)! <= from) continue
    let lines = ''
    const to = await scanSegment(path, name, from, listed, (one) => {
      lines += serializeIndexedExecution(one, name, one.s && { s: one.s, at: one.end! })
    })
    // The owner of the segment adds it when it is on the disk.
    if (to > from && !getSegmentOwner(getSegmentPaths(paths, name)))
      news += lines + serializeCoveredRange({ j: name, from, to })
  }
  if (!isSound) tryWrite(() => writeFileAtomic(paths.index, news))
  else if (news !== '') tryWrite(() => appendToIndex(paths, news))
  return listed
}

/** Adds whole lines to the index, in one piece: others write there too. */
export function appendToIndex({ index }: InlinePaths, text: string): void {
  const fd = openSync(
    index,
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW,
    0o600,
  )
  try {
    writeSync(fd, text)
  } finally {
    closeSync(fd)
  }
}

// The index can be rebuilt at any time: without it, the next read takes a little longer.
function tryWrite(write: () => void): void {
  try {
    write()
  } catch {
    /* a full disk, or a folder that is not ours */
  }
}

// A link would lead elsewhere, and counts as nothing.
function readIndexText(file: string): string {
  try {
    return lstatSync(file).isFile() ? readFileSync(file, 'utf8') : ''
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return ''
    throw toDiskError(error, `cannot read ${file}`)
  }
}

/** An execution as the index knows it. */
export type IndexedExecution = {
  /** Its id. */
  readonly w: string
  /** The name of its workflow. */
  readonly n: string
  readonly h: string
  readonly at: string
  /** The segment that it is in. */
  readonly j: string
  /** How it ended; `moved` if it continues as a run. */
  readonly s?: EndState | 'moved'
  readonly end?: string
}

/**
 * A range of a segment, in bytes, that is in the index. A gap between two ranges means that lines
 * were lost.
 */
type CoveredRange = { readonly j: string; readonly from: number; readonly to: number }

/** The line of an execution, which begins with its id, at a fixed place. */
export function serializeIndexedExecution(
  { w, n, h, at }: Pick<BeginRecord, 'w' | 'n' | 'h' | 'at'>,
  segment: string,
  end?: { readonly s: EndState | 'moved'; readonly at: string },
): string {
  return `{"w":"${w}","n":${JSON.stringify(n)},"h":"${h}","at":"${at}","j":"${segment}"${end ? `,"s":"${end.s}","end":"${end.at}"` : ''}}\n`
}

/** The line that says how far a segment is covered. */
export function serializeCoveredRange({ j, from, to }: CoveredRange): string {
  return `{"j":"${j}","from":${from},"to":${to}}\n`
}

/** The executions in an index, and how much of each segment it covers; undefined if it is torn. */
function parseIndex(
  text: string,
):
  | { readonly listed: Map<string, IndexedExecution>; readonly covered: Map<string, number> }
  | undefined {
  const listed = new Map<string, IndexedExecution>()
  const ranges: CoveredRange[] = []
  // From the end: the last line of an execution says everything, so earlier lines are skipped.
  for (let to = text.length - 1; to > 0;) {
    const from = text.lastIndexOf('\n', to - 1) + 1
    if (text.startsWith(EXECUTION_LINE_START, from)) {
      const id = text.slice(
        from + EXECUTION_LINE_START.length,
        from + EXECUTION_LINE_START.length + EXECUTION_ID_LENGTH,
      )
      if (!listed.has(id)) {
        const value = parseJsonObject(text.slice(from, to)) as IndexedExecution | undefined
        if (value?.w !== id) return undefined
        listed.set(id, value)
      }
    } else {
      const value = parseJsonObject(text.slice(from, to)) as CoveredRange | undefined
      if (
        typeof value?.j !== 'string' ||
        !Number.isSafeInteger(value.from) ||
        !Number.isSafeInteger(value.to)
      )
        return undefined
      ranges.push(value)
    }
    to = from - 1
  }
  return text === '' || text.endsWith('\n') ? { listed, covered: joinRanges(ranges) } : undefined
}

const EXECUTION_LINE_START = '{"w":"'
const EXECUTION_ID_LENGTH = 12

// What comes after a gap is read again from the segment.
function joinRanges(ranges: readonly CoveredRange[]): Map<string, number> {
  const covered = new Map<string, number>()
  for (const { j, from, to } of [...ranges].sort((left, right) => left.from - right.from)) {
    const known = covered.get(j) ?? 0
    if (from <= known && to > known) covered.set(j, to)
  }
  return covered
}

const QUOTE = 0x22
/** `{"t":"` */
const RECORD_TYPE_OFFSET = 6

/**
 * Adds the executions of a segment, from a position on, to those that are known; returns how far it
 * was read. Only records that begin and end an execution are read, and damaged ones are skipped.
 */
async function scanSegment(
  path: string,
  segment: string,
  from: number,
  listed: Map<string, IndexedExecution>,
  onFound: (one: IndexedExecution) => void,
): Promise<number> {
  let end = from
  const found = (one: IndexedExecution): void => {
    listed.set(one.w, one)
    onFound(one)
  }
  const file = await openJournalFile(path, constants.O_RDONLY)
  try {
    for await (const { bytes, end: endOfPiece } of readWholeLines(file, from)) {
      for (let at = 0; at < bytes.length;) {
        const to = bytes.indexOf(LINE_FEED, at)
        if (isIndexedRecordAt(bytes, at))
          indexRecordLine(bytes.toString('utf8', at, to), segment, listed, found)
        at = to + 1
      }
      end = endOfPiece
    }
  } finally {
    await file.close()
  }
  return end
}

// Most lines are results of steps, which may be long and do not matter here.
function isIndexedRecordAt(bytes: Buffer, at: number): boolean {
  const first = bytes[at + RECORD_TYPE_OFFSET]
  return (
    first === 0x62 /* begin */ ||
    (first === 0x65 && bytes[at + RECORD_TYPE_OFFSET + 3] === QUOTE) /* end */ ||
    first === 0x6d
  ) /* moved */
}

function indexRecordLine(
  line: string,
  segment: string,
  listed: ReadonlyMap<string, IndexedExecution>,
  found: (one: IndexedExecution) => void,
): void {
  const record = parseJsonObject(line) as BeginRecord | EndRecord | MovedRecord | undefined
  if (!record) return
  const known = listed.get(record.w)
  if (record.t === 'begin') {
    if (!known) found({ w: record.w, n: record.n, h: record.h, at: record.at, j: segment })
  } else if (known && known.j === segment && (record.t === 'end' || record.t === 'moved'))
    found({ ...known, s: record.t === 'end' ? record.s : 'moved', end: record.at })
}

/** The records of one execution. */
export type ExecutionRecords = {
  readonly begin: BeginRecord
  readonly definition: Workflow
  /** What happened after its begin, in order. */
  readonly records: readonly ExecutionRecord[]
  readonly end?: EndRecord
}

/**
 * The records of one execution in a segment; undefined if there are none. Lines of others are not
 * parsed. Throws CONFIG when its definition is missing.
 */
export async function readExecutionRecords(
  path: string,
  id: string,
): Promise<ExecutionRecords | undefined> {
  const [ours, definition] = [Buffer.from(`"w":"${id}"`), Buffer.from('{"t":"define"')]
  const records: JournalRecord[] = []
  const file = await openJournalFile(path, constants.O_RDONLY)
  try {
    for await (const { bytes } of readWholeLines(file, 0)) {
      for (const line of findLinesWith(bytes, [ours, definition])) {
        const value = parseJsonObject(line)
        if (isJournalRecord(value)) records.push(value)
      }
    }
  } finally {
    await file.close()
  }
  return groupByExecution(records, path).get(id)
}

/**
 * The executions in the records of a segment, by id. Throws CONFIG where a definition is missing.
 */
export function groupByExecution(
  records: readonly JournalRecord[],
  path: string,
): Map<string, ExecutionRecords> {
  const definitions = new Map<string, Workflow>()
  const found = new Map<
    string,
    { begin: BeginRecord; definition: Workflow; records: ExecutionRecord[]; end?: EndRecord }
  >()
  for (const record of records) {
    if (record.t === 'define') definitions.set(record.h, record.d)
    else if (record.t === 'begin') {
      const definition = definitions.get(record.h)
      if (!definition)
        throw new ToolError('CONFIG', `${path} has no definition of ${record.w}`, {
          suggestion: 'Put the file back from a copy, or move it away',
          details: { file: path },
        })
      if (!found.has(record.w)) found.set(record.w, { begin: record, definition, records: [] })
    } else {
      const one = found.get(record.w)
      one?.records.push(record)
      if (one && record.t === 'end') one.end ??= record
    }
  }
  return found
}

function* findLinesWith(bytes: Buffer, needles: readonly Buffer[]): Generator<string> {
  const next = needles.map((needle) => bytes.indexOf(needle))
  for (;;) {
    let at = -1
    for (const place of next) if (place !== -1 && (at === -1 || place < at)) at = place
    if (at === -1) return
    const from = bytes.lastIndexOf(LINE_FEED, at) + 1
    const to = bytes.indexOf(LINE_FEED, at)
    yield bytes.toString('utf8', from, to)
    for (const [index, place] of next.entries())
      if (place !== -1 && place < to) next[index] = bytes.indexOf(needles[index]!, to)
  }
}
