import type { FileHandle } from 'node:fs/promises'
import type { JsonObject } from '../../../../contract/json.ts'
import type { RunEvent } from '../../../../contract/run-state.ts'
import { parseEvent } from '../../../../runner/log/scan-log.ts'
import { readWholeLines } from '../../../../runner/log/whole-lines.ts'
import type { FoundEvents } from './found-events.ts'

const LARGEST_PAGE = 4 * 1024 * 1024
const LARGEST_EVENT = 256 * 1024
const LARGEST_GAP = 32 * 1024
const LARGEST_READ = 1024 * 1024
const ENVELOPE = [
  'v',
  'type',
  'ts',
  'run_id',
  'trace_id',
  'seq',
  'attempt',
  'level',
  'step',
  'state',
  'code',
  'rc',
] as const

/** Events as a page shows them, and whether they are fewer than wanted because they are too large. */
export type Read = { readonly events: readonly JsonObject[]; readonly full: boolean }

/** The events from a number on, at most so many, read from a place at or before the first. */
export async function readFrom(
  file: FileHandle,
  offset: number,
  from: number,
  limit: number,
): Promise<Read> {
  const events: JsonObject[] = []
  let room = LARGEST_PAGE
  for await (const { bytes } of readWholeLines(file, offset)) {
    for (const line of bytes.toString('utf8').slice(0, -1).split('\n')) {
      const event = parseEvent(line)
      if (!event || event.seq < from) continue
      room -= line.length
      if (room < 0 && events.length > 0) return { events, full: true }
      events.push(bound(event, line.length))
      if (events.length === limit) return { events, full: false }
    }
  }
  return { events, full: false }
}

/** Some of the events that were found, those between two places of their list. */
export async function readFound(
  file: FileHandle,
  found: FoundEvents,
  from: number,
  to: number,
): Promise<Read> {
  const events: JsonObject[] = []
  let room = LARGEST_PAGE
  for (let place = from; place < to;) {
    // Those that stand close together are read together.
    const first = found.at(place)
    let last = place
    let end = first.offset + first.length
    while (
      last + 1 < to &&
      found.at(last + 1).offset - end <= LARGEST_GAP &&
      found.at(last + 1).offset + found.at(last + 1).length - first.offset <= LARGEST_READ
    ) {
      last += 1
      end = found.at(last).offset + found.at(last).length
    }
    const { buffer } = await file.read(
      Buffer.alloc(end - first.offset),
      0,
      end - first.offset,
      first.offset,
    )
    for (; place <= last; place += 1) {
      const { offset, length } = found.at(place)
      const event = parseEvent(
        buffer.toString('utf8', offset - first.offset, offset - first.offset + length),
      )
      room -= length
      if (room < 0 && events.length > 0) return { events, full: true }
      if (event) events.push(bound(event, length))
    }
  }
  return { events, full: false }
}

/** An event as a page can bear it: of one that is far too large only what it is. */
export function bound(event: RunEvent, length: number): JsonObject {
  if (length <= LARGEST_EVENT) return event
  return {
    ...Object.fromEntries(
      ENVELOPE.flatMap((name) => (Object.hasOwn(event, name) ? [[name, event[name]]] : [])),
    ),
    msg: `this event has ${length} characters, too many to be shown`,
    too_large: length,
  }
}
