/**
 * What all views of a run share: their interface, shown questions, earlier attempts, kept files and
 * log tails.
 */

import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { GlobalFlags } from '../../define/global-flags.ts'
import type { Io } from '../../protocol/io.ts'
import type { RunEvent } from '../../protocol/run-state.ts'
import { readEventBatches } from '../../runner/log-reader.ts'
import type { RunRequest } from '../../runner/request.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { compact, isObject, parseJsonObject } from '../../util/values.ts'
import { toEventText } from '../../views/model/event-text.ts'
import type { RunModelInput } from '../../views/model/run-model.ts'
import type { RunIdentity, RunSummary, RunSummaryBuilder } from '../../views/model/run-summary.ts'
import { createSummaryBuilder } from '../../views/model/run-summary.ts'
import type { LogTail } from '../../views/terminal/run-rows.ts'
import type { AskPerson } from './consent.ts'

/** A run that is looked at in the foreground. */
export type ViewedRun = {
  readonly paths: RunPaths
  readonly request: RunRequest
  readonly io: Io
  readonly globals: GlobalFlags
  /** Whether questions go to a person at this terminal. */
  readonly person: boolean
  /** It continues after an attempt that was shown elsewhere. */
  readonly resumed: boolean
}

/**
 * One way to show a run while it is performed, and when it is over. `events` are the lines,
 * parsed.
 */
export type RunViewPart = {
  show(lines: string, events: () => readonly RunEvent[]): Promise<void>
  /** Asks a person at the right moment, and in the right place. */
  readonly ask?: AskPerson
  /** Prints where things are, and how to resume it. */
  sumUp?(): Promise<void>
  /** Restores the terminal, also after a failure. */
  close?(): Promise<void>
}

/** The lines of a record, parsed. */
export function parseEventLines(lines: string): readonly RunEvent[] {
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RunEvent)
}

/** Knows which questions have been shown. */
type ShownQuestions = {
  /** These events have been shown. */
  addShown(events: readonly RunEvent[]): void
  /**
   * Resolves when everything that came before a question has been shown, or it was withdrawn.
   */
  untilShown(id: string, signal: AbortSignal): Promise<void>
}

/** Keeps questions behind what came before them. */
export function createShownQuestions(): ShownQuestions {
  const shown = new Set<string>()
  const waiting = new Map<string, () => void>()
  return {
    addShown(events) {
      for (const event of events) {
        const id = getQuestionId(event)
        if (id === undefined) continue
        shown.add(id)
        waiting.get(id)?.()
      }
    },
    async untilShown(id, signal) {
      if (shown.has(id) || signal.aborted) return
      await new Promise<void>((resolve) => {
        waiting.set(id, resolve)
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    },
  }
}

/** The id of the question that an event asks. */
export function getQuestionId({ type, interaction }: RunEvent): string | undefined {
  if (type !== 'action_required' || !isObject(interaction)) return undefined
  return typeof interaction['id'] === 'string' ? interaction['id'] : undefined
}

/** The events of earlier attempts of a run that is resumed, which are part of its view. */
export async function* readEarlierEvents({
  paths,
  resumed,
}: Pick<ViewedRun, 'paths' | 'resumed'>): AsyncGenerator<readonly RunEvent[]> {
  if (resumed && existsSync(paths.events)) yield* readEventBatches(paths.events)
}

/**
 * A summary that may miss the beginning: that of a resumed run begins with the end of the attempt
 * before.
 */
export function createResumedSummary(request: RunIdentity): RunSummaryBuilder {
  let summary = createSummaryBuilder(request)
  let isFirst = true
  return {
    add(event: RunEvent) {
      if (isFirst && event.attempt > 1)
        summary = createSummaryBuilder(request, {
          state: 'failed',
          attempt: event.attempt - 1,
          open: [],
        })
      isFirst = false
      summary.add(event)
    },
    current: () => summary.current(),
  }
}

/** The artifacts of a run that are in its folder, under paths that can be pasted here. */
export function listKeptFiles(
  { artifacts = [] }: RunSummary,
  paths: RunPaths,
  cwd: string,
): readonly { readonly path: string; readonly bytes?: number }[] {
  return artifacts.flatMap((artifact) => {
    if (!isObject(artifact)) return []
    const { path, sha256, bytes } = artifact
    if (typeof path !== 'string' || sha256 === undefined) return []
    const kept = { path: toShortPath(cwd, join(paths.artifacts, path)) }
    return [typeof bytes === 'number' ? { ...kept, bytes } : kept]
  })
}

/** What a model has to know of a request. */
export function toRunModelInput({
  run_id,
  tool,
  created,
  command,
  heartbeat_grace_s: grace,
}: Pick<
  RunRequest,
  'run_id' | 'tool' | 'created' | 'command' | 'heartbeat_grace_s'
>): RunModelInput {
  return compact({
    run_id,
    tool,
    created,
    workflow: command === 'workflow',
    heartbeat_grace_s: grace,
  })
}

const MAX_TAIL_BYTES = 65_536
const MAX_TAIL_LINES = 20

/**
 * The last lines that the tool of a run has written, and where all of them are; undefined where its
 * record cannot be read.
 */
export function readLogTail(paths: RunPaths, cwd: string): LogTail | undefined {
  try {
    const lines = readFileEnd(paths.events)
      .split('\n')
      .flatMap((line) => toLogLines(parseJsonObject(line)))
    return { lines: lines.slice(-MAX_TAIL_LINES), path: getLogPath(paths, cwd) }
  } catch {
    return undefined
  }
}

/**
 * The file with the log of a run, as short as it can be pasted: what its tool wrote to stderr, else
 * its record.
 */
export function getLogPath({ stderr, events }: RunPaths, cwd: string): string {
  const { size = 0 } = statSync(stderr, { throwIfNoEntry: false }) ?? {}
  return toShortPath(cwd, size > 0 ? stderr : events)
}

/** A path that can be pasted here. */
function toShortPath(cwd: string, path: string): string {
  const from = relative(cwd, path)
  return from.startsWith('..') ? path : from
}

function toLogLines(event: { readonly [field: string]: unknown } | undefined): readonly string[] {
  if (event?.['type'] === 'diagnostic')
    return typeof event['line'] === 'string' ? [event['line']] : []
  if (event?.['type'] !== 'log' || event['step_state'] !== undefined) return []
  return [toEventText({ ...event, level: undefined } as unknown as RunEvent)]
}

// The first line of it may be torn; it is no object then.
function readFileEnd(file: string): string {
  const descriptor = openSync(file, 'r')
  try {
    const { size } = fstatSync(descriptor)
    const bytes = Buffer.alloc(Math.min(size, MAX_TAIL_BYTES))
    return bytes
      .subarray(0, readSync(descriptor, bytes, 0, bytes.length, size - bytes.length))
      .toString()
  } finally {
    closeSync(descriptor)
  }
}
