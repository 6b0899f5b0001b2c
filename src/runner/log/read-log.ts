import type { RunEvent } from '../../contract/run-state.ts'
import { followLines } from './follow-lines.ts'
import type { FollowOptions } from './follow-lines.ts'
import { parseEvent } from './scan-log.ts'

export type ReadLogOptions = FollowOptions & {
  /** The first number that is wanted; default 1. */
  readonly from?: number
}

/** The events of a log in order. Lines that are no events are left out. A log that does not exist is empty. Throws PERMISSION or INTERNAL when the file cannot be read. */
export async function* readLog(
  path: string,
  options: ReadLogOptions = {},
): AsyncGenerator<RunEvent> {
  for await (const events of readBatches(path, options)) yield* events
}

/** The same, as many at a time as there are: a promise for each event costs more than the event. */
export async function* readBatches(
  path: string,
  { from = 1, ...options }: ReadLogOptions = {},
): AsyncGenerator<RunEvent[]> {
  for await (const lines of followLines(path, options)) {
    const events = lines.flatMap((line) => parseEvent(line) ?? []).filter(({ seq }) => seq >= from)
    if (events.length > 0) yield events
  }
}
