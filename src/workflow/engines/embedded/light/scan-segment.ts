import { constants } from 'node:fs'
import { parseObject } from '../../../../contract/json.ts'
import { readWholeLines } from '../../../../runner/log/whole-lines.ts'
import { openOwnFile } from '../journal/read-journal.ts'
import type { BeginRecord, EndRecord, MovedRecord } from '../journal/record.ts'
import type { Listed } from './index-line.ts'

const LINE_FEED = 0x0a
const QUOTE = 0x22
/** `{"t":"` */
const KIND_AT = 6

/** Adds what a segment says from a place on to what is known of its executions; tells how far it was read. Only what begins and ends an execution is looked at, and what is damaged is left out. */
export async function scanSegment(
  path: string,
  segment: string,
  from: number,
  listed: Map<string, Listed>,
  onFound: (one: Listed) => void = () => undefined,
): Promise<number> {
  let end = from
  const found = (one: Listed): void => {
    listed.set(one.w, one)
    onFound(one)
  }
  const file = await openOwnFile(path, constants.O_RDONLY)
  try {
    for await (const { bytes, end: endOfPiece } of readWholeLines(file, from)) {
      for (let at = 0; at < bytes.length;) {
        const to = bytes.indexOf(LINE_FEED, at)
        const kind = kindAt(bytes, at)
        if (kind) take(bytes.toString('utf8', at, to), segment, listed, found)
        at = to + 1
      }
      end = endOfPiece
    }
  } finally {
    await file.close()
  }
  return end
}

// Most lines are results of steps, which may be long and are nobody's concern here.
function kindAt(bytes: Buffer, at: number): boolean {
  const first = bytes[at + KIND_AT]
  return (
    first === 0x62 /* begin */ ||
    (first === 0x65 && bytes[at + KIND_AT + 3] === QUOTE) /* end */ ||
    first === 0x6d
  ) /* moved */
}

function take(
  line: string,
  segment: string,
  listed: ReadonlyMap<string, Listed>,
  found: (one: Listed) => void,
): void {
  const record = parseObject(line) as BeginRecord | EndRecord | MovedRecord | undefined
  if (!record) return
  const known = listed.get(record.w)
  if (record.t === 'begin') {
    if (!known) found({ w: record.w, n: record.n, h: record.h, at: record.at, j: segment })
  } else if (known && known.j === segment && (record.t === 'end' || record.t === 'moved'))
    found({ ...known, s: record.t === 'end' ? record.s : 'moved', end: record.at })
}
