import { constants } from 'node:fs'
import { parseObject } from '../../../../contract/json.ts'
import { ToolError } from '../../../../contract/tool-error.ts'
import { readWholeLines } from '../../../../runner/log/whole-lines.ts'
import type { Workflow } from '../../../definition/workflow-type.ts'
import { openOwnFile } from '../journal/read-journal.ts'
import { isRecord } from '../journal/record.ts'
import type { BeginRecord, EndRecord, ExecutionRecord, JournalRecord } from '../journal/record.ts'

/** One execution as a segment tells it. */
export type ExecutionRecords = {
  readonly begin: BeginRecord
  readonly definition: Workflow
  /** What happened after its begin, in order. */
  readonly records: readonly ExecutionRecord[]
  readonly end?: EndRecord
}

const LINE_FEED = 0x0a

/** What a segment says of one execution; undefined where it says nothing. Lines of others are not even parsed. Throws CONFIG where its definition is missing. */
export async function readExecution(
  path: string,
  id: string,
): Promise<ExecutionRecords | undefined> {
  const [ours, definition] = [Buffer.from(`"w":"${id}"`), Buffer.from('{"t":"define"')]
  const records: JournalRecord[] = []
  const file = await openOwnFile(path, constants.O_RDONLY)
  try {
    for await (const { bytes } of readWholeLines(file, 0)) {
      for (const line of linesWith(bytes, [ours, definition])) {
        const value = parseObject(line)
        if (isRecord(value)) records.push(value)
      }
    }
  } finally {
    await file.close()
  }
  return sortOut(records, path).get(id)
}

/** The executions in the records of a segment, by id. Throws CONFIG where a definition is missing. */
export function sortOut(
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

function* linesWith(bytes: Buffer, needles: readonly Buffer[]): Generator<string> {
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
