/**
 * Summaries of runs, read from their records: the whole record, or quickly from both ends of it.
 */

import type { FileHandle } from 'node:fs/promises'
import { getErrorInfo, toExitCode } from '../protocol/errors.ts'
import { createSummaryBuilder } from '../views/model/run-summary.ts'
import type { RunSummary } from '../views/model/run-summary.ts'
import { openRegularFile } from './files.ts'
import { parseEvent, readEventBatches, readWholeLines } from './log-reader.ts'
import type { RunRequest } from './request.ts'
import type { RunPaths } from './run-paths.ts'

type SummaryRequest = Pick<RunRequest, 'run_id' | 'tool' | 'created'>

const EDGE_BYTES = 16 * 1024

/** Sums up a run from its whole record. */
export async function readRunSummary(
  paths: RunPaths,
  request: SummaryRequest,
): Promise<RunSummary> {
  const builder = createSummaryBuilder(request)
  for await (const events of readEventBatches(paths.events))
    for (const event of events) builder.add(event)
  return builder.current()
}

/**
 * State, times, code and last words of a run, as quickly as they can be had: from both ends of the
 * record where it is over, else from the lines that change where it stands. Counts, results and
 * artifacts are those of what was read.
 */
export async function readBriefSummary(
  paths: RunPaths,
  request: SummaryRequest,
): Promise<RunSummary> {
  const file = await openRegularFile(paths.events).catch(() => undefined)
  if (!file) return createSummaryBuilder(request).current()
  try {
    return (await summarizeEdges(file, request)) ?? (await summarizeTransitions(file, request))
  } finally {
    await file.close()
  }
}

// Enough for a run of one attempt that is over: its first line and its last ones.
async function summarizeEdges(
  file: FileHandle,
  request: SummaryRequest,
): Promise<RunSummary | undefined> {
  const { size } = await file.stat()
  const head = await readAt(file, 0, Math.min(size, EDGE_BYTES))
  const tail = size <= EDGE_BYTES ? '' : await readAt(file, size - EDGE_BYTES, EDGE_BYTES)
  const lines = [
    ...head.slice(0, head.lastIndexOf('\n')).split('\n', tail === '' ? undefined : 1),
    ...tail.slice(tail.indexOf('\n') + 1, tail.lastIndexOf('\n')).split('\n'),
  ]
  const builder = createSummaryBuilder(request)
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

async function summarizeTransitions(
  file: FileHandle,
  request: SummaryRequest,
): Promise<RunSummary> {
  const builder = createSummaryBuilder(request)
  let held: string[] = []
  for await (const { bytes } of readWholeLines(file, 0)) {
    for (const line of held) if (isTransitionLine(line)) add(line)
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

function isTransitionLine(line: string): boolean {
  return line.includes('"runner_') || line.includes('"action_required"') || line.includes('"error"')
}

async function readAt(file: FileHandle, position: number, length: number): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position)
  return buffer.toString('utf8', 0, bytesRead)
}

/**
 * What a run means as an exit status: 0 when it completed, else that of the tool where it gave one,
 * else that of what went wrong; never 0.
 */
export function getExitStatus({
  state,
  rc,
  error,
}: Pick<RunSummary, 'state' | 'rc' | 'error'>): number {
  if (state === 'completed') return 0
  if (rc !== undefined && Number.isInteger(rc) && rc > 0 && rc < 256) return rc
  if (state === 'cancelled') return 130
  const status = error ? toExitCode({ code: error.code, ...getErrorInfo(error.code) }) : 1
  return status === 0 ? 1 : status
}
