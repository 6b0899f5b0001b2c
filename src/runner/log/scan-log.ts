import { parseObject } from '../../contract/json.ts'
import { QUEUED, transition } from '../../contract/run-state.ts'
import type { RunEvent, RunStanding } from '../../contract/run-state.ts'
import { readWholeLines } from './whole-lines.ts'
import type { Readable } from './whole-lines.ts'

/** What a log says of its run, and how many of its bytes say something: the rest is what a crash has left. */
export type Scanned = {
  readonly standing: RunStanding
  readonly last?: RunEvent
  readonly end: number
}

/** The event that a line of a log is; undefined for anything else, whoever put it there. */
export function parseEvent(line: string): RunEvent | undefined {
  const value = line.startsWith('{') ? parseObject(line) : undefined
  return value &&
    typeof value['type'] === 'string' &&
    Number.isSafeInteger(value['seq']) &&
    Number.isSafeInteger(value['attempt'])
    ? (value as unknown as RunEvent)
    : undefined
}

/** Reads a log once, from its beginning; only lines that change where a run stands are looked into. Throws only when the file cannot be read. */
export async function scanLog(file: Readable): Promise<Scanned> {
  const quick = await scan(file, false)
  return quick.damaged ? scan(file, true) : quick
}

type Pass = Scanned & { readonly damaged: boolean }

// The bytes are read as Latin-1, in which every byte is a character, so that lengths are right whatever stands there.
async function scan(file: Readable, thoroughly: boolean): Promise<Pass> {
  let standing = QUEUED
  let last = ''
  let end = 0
  for await (const { bytes, end: endOfPiece } of readWholeLines(file, 0)) {
    let at = endOfPiece - bytes.length
    for (const line of bytes.toString('latin1').slice(0, -1).split('\n')) {
      at += line.length + 1
      if (thoroughly && !parseEvent(line)) continue
      if (line.includes('"runner_') || line.includes('"action_required"'))
        standing = follow(standing, line)
      last = line
      end = at
    }
  }
  const event = parseEvent(toUtf8(last))
  return { standing, ...(event && { last: event }), end, damaged: end > 0 && !event }
}

function follow(standing: RunStanding, line: string): RunStanding {
  const event = parseEvent(toUtf8(line))
  return (event && transition(standing, event)) ?? standing
}

function toUtf8(line: string): string {
  return Buffer.from(line, 'latin1').toString()
}
