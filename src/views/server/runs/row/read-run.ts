import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { parseEvent } from '../../../../runner/log/scan-log.ts'
import type { RunPaths } from '../../../../runner/folder/run-paths.ts'
import type { RunFacts } from './facts.ts'
import { startStanding } from './standing.ts'
import type { Standing } from './standing.ts'
import { takeLines } from './take-lines.ts'

const EDGE = 16 * 1024
const LARGEST_TAIL = 1024 * 1024
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants
let buffer = Buffer.alloc(EDGE)

/** What was read at once: where a run stands, and whether all of its record was looked at. */
export type QuickRead = { readonly standing: Standing; readonly whole: boolean }

/** Where a run stands, from one or two reads: all of a short record, both ends of a long one that is over after one attempt. Undefined where more has to be read. At once, because thousands are read one after the other, and each promise costs more than the file. A record that is no file says nothing. */
export function readQuickly(paths: RunPaths, facts: RunFacts): QuickRead | undefined {
  const file = openQuietly(paths.events)
  if (file === undefined) return { standing: startStanding(facts), whole: true }
  try {
    const stats = fstatSync(file)
    const standing = startStanding(facts)
    if (!stats.isFile()) return { standing, whole: true }
    const head = readAt(file, 0, Math.min(stats.size, EDGE))
    if (stats.size <= EDGE) {
      takeLines(standing, head.slice(0, head.lastIndexOf('\n') + 1))
      return { standing, whole: true }
    }
    const first = parseEvent(head.slice(0, Math.max(0, head.indexOf('\n'))))
    const tail = readTail(file, stats.size)
    const last =
      tail === undefined
        ? undefined
        : parseEvent(tail.slice(tail.lastIndexOf('\n', tail.length - 2) + 1, -1))
    if (
      first?.type !== 'runner_start' ||
      first.attempt !== 1 ||
      last?.type !== 'runner_end' ||
      last.attempt !== 1
    )
      return undefined
    standing.add(first)
    takeLines(standing, tail!)
    return { standing, whole: false }
  } finally {
    closeSync(file)
  }
}

// The last two lines at least, whole: the end, and the result before it.
function readTail(file: number, size: number): string | undefined {
  for (let length = EDGE; length <= LARGEST_TAIL; length *= 8) {
    const text = readAt(file, Math.max(0, size - length), Math.min(size, length))
    const end = text.lastIndexOf('\n') + 1
    const start = text.indexOf('\n') + 1
    const lines = text.slice(start, end)
    if (lines.indexOf('\n') < lines.length - 1) return lines
    if (length >= size) return lines
  }
  return undefined
}

function openQuietly(path: string): number | undefined {
  try {
    return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch {
    return undefined
  }
}

function readAt(file: number, position: number, length: number): string {
  if (buffer.length < length) buffer = Buffer.alloc(length)
  return buffer.toString('utf8', 0, readSync(file, buffer, 0, length, position))
}
