import type { FileHandle } from 'node:fs/promises'
import type { RunPaths } from '../folder/run-paths.ts'
import { openOrdinary } from '../log/open-ordinary.ts'
import { readBatches } from '../log/read-log.ts'
import { parseEvent } from '../log/scan-log.ts'
import { readWholeLines } from '../log/whole-lines.ts'
import type { RunRequest } from '../run-request.ts'
import { startSummary } from '../../views/model/summary/summarize.ts'
import type { RunSummary } from '../../views/model/summary/summary.ts'

type Asked = Pick<RunRequest, 'run_id' | 'tool' | 'created'>

const EDGE = 16 * 1024

/** Sums up a run from its whole record. */
export async function readSummary(paths: RunPaths, request: Asked): Promise<RunSummary> {
  const builder = startSummary(request)
  for await (const events of readBatches(paths.events))
    for (const event of events) builder.add(event)
  return builder.current()
}

/** State, times, code and last words of a run, as quickly as they can be had: from both ends of the record where it is over, else from the lines that change where it stands. Counts, results and artifacts are those of what was read. */
export async function glance(paths: RunPaths, request: Asked): Promise<RunSummary> {
  const file = await openOrdinary(paths.events).catch(() => undefined)
  if (!file) return startSummary(request).current()
  try {
    return (await readEdges(file, request)) ?? (await readTurns(file, request))
  } finally {
    await file.close()
  }
}

// Enough for a run of one attempt that is over: its first line and its last ones.
async function readEdges(file: FileHandle, request: Asked): Promise<RunSummary | undefined> {
  const { size } = await file.stat()
  const head = await readAt(file, 0, Math.min(size, EDGE))
  const tail = size <= EDGE ? '' : await readAt(file, size - EDGE, EDGE)
  const lines = [
    ...head.slice(0, head.lastIndexOf('\n')).split('\n', tail === '' ? undefined : 1),
    ...tail.slice(tail.indexOf('\n') + 1, tail.lastIndexOf('\n')).split('\n'),
  ]
  const builder = startSummary(request)
  const events = lines.flatMap((line) => parseEvent(line) ?? [])
  for (const event of events) builder.add(event)
  const [first, last] = [events[0], events.at(-1)]
  return first?.type === 'runner_start' &&
    first.attempt === 1 &&
    last?.type === 'runner_end' &&
    last.attempt === 1
    ? builder.current()
    : undefined
}

async function readTurns(file: FileHandle, request: Asked): Promise<RunSummary> {
  const builder = startSummary(request)
  let held: string[] = []
  for await (const { bytes } of readWholeLines(file, 0)) {
    for (const line of held) if (changesSomething(line)) add(line)
    held = bytes.toString('utf8').slice(0, -1).split('\n')
  }
  // What was said last counts, whatever it is.
  for (const line of held) add(line)
  return builder.current()

  function add(line: string): void {
    const event = parseEvent(line)
    if (event) builder.add(event)
  }
}

function changesSomething(line: string): boolean {
  return line.includes('"runner_') || line.includes('"action_required"') || line.includes('"error"')
}

async function readAt(file: FileHandle, position: number, length: number): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.toString('utf8', 0, bytesRead)
}
