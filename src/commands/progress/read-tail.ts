import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { relative } from 'node:path'
import { parseObject } from '../../contract/json.ts'
import type { RunEvent } from '../../contract/run-state.ts'
import { runPaths } from '../../runner/folder/run-paths.ts'
import { eventText } from '../../views/model/summary/event-text.ts'
import type { Tail } from '../../views/terminal/layout/run-rows.ts'

const MOST_BYTES = 65_536
const MOST_LINES = 20

/** The last lines that the tool of a run has said, and where all of them are; undefined where nobody can know. */
export function readTail(root: string, run: string, cwd: string): Tail | undefined {
  const paths = runPaths(root, run)
  try {
    const lines = readEnd(paths.events)
      .split('\n')
      .flatMap((line) => sayingOf(parseObject(line)))
    return { lines: lines.slice(-MOST_LINES), path: logPath(root, run, cwd) }
  } catch {
    return undefined
  }
}

/** The file with the log of a run, as short as it can be pasted: what its tool wrote to stderr, else its record. */
export function logPath(root: string, run: string, cwd: string): string {
  const { stderr, events } = runPaths(root, run)
  return shortest(
    cwd,
    (statSync(stderr, { throwIfNoEntry: false })?.size ?? 0) > 0 ? stderr : events,
  )
}

/** A path that can be pasted here. */
export function shortest(cwd: string, path: string): string {
  const from = relative(cwd, path)
  return from.startsWith('..') ? path : from
}

function sayingOf(event: { readonly [field: string]: unknown } | undefined): readonly string[] {
  if (event?.['type'] === 'diagnostic')
    return typeof event['line'] === 'string' ? [event['line']] : []
  return event?.['type'] === 'log' && event['step_state'] === undefined
    ? [eventText({ ...event, level: undefined } as unknown as RunEvent)]
    : []
}

// The first line of it may be torn; it is no object then.
function readEnd(file: string): string {
  const descriptor = openSync(file, 'r')
  try {
    const { size } = fstatSync(descriptor)
    const bytes = Buffer.alloc(Math.min(size, MOST_BYTES))
    return bytes
      .subarray(0, readSync(descriptor, bytes, 0, bytes.length, size - bytes.length))
      .toString()
  } finally {
    closeSync(descriptor)
  }
}
