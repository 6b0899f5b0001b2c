/**
 * `toolable watch`, `toolable runs logs` and `toolable runs export`: following and printing the record of runs.
 */

import { redirectStrayOutput } from '../../cli/stray-output.ts'
import type { BuiltinContext } from '../../cli/types.ts'
import type { RunEvent, RunStateInfo } from '../../protocol/run-state.ts'
import { applyRunEvent, INITIAL_RUN_STATE, isFinished } from '../../protocol/run-state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { findRun, listRuns, openRun } from '../../runner/find-run.ts'
import { isRunLive } from '../../runner/lock.ts'
import { followLines, readEventBatches, readEvents } from '../../runner/log-reader.ts'
import { recoverRuns } from '../../runner/recover.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { findRunsFolder, isRunIdWithoutFolder } from '../../runner/run-paths.ts'
import { getExitStatus } from '../../runner/summary.ts'
import { exportTrace, sendTrace } from '../../runner/trace-export.ts'
import { createSummaryBuilder } from '../../views/model/run-summary.ts'
import type { InlineRun } from '../../workflow/inline-run.ts'
import type { OutputContext } from '../command.ts'
import { chooseProgress, isTextOutput } from '../command.ts'
import type { TreeWatcher, WatchedRun, Watcher, WatchOptions } from '../run/terminal-views.ts'
import type { LinePrinter } from './event-lines.ts'
import { createLinePrinter } from './event-lines.ts'

type WatchRunsInput = {
  readonly run?: readonly string[]
  readonly all?: boolean
  readonly since?: number
  readonly progress?: string
  readonly config?: string
}

const ABORTED_STATUS = 130

/**
 * Prints the events of runs until they are over; gives the status of the first that did not
 * complete.
 */
export async function watchRuns(
  { run = [], all = false, since = 1, progress, config }: WatchRunsInput,
  context: BuiltinContext,
): Promise<number> {
  const { io, host } = context
  if (run.length > 0 === all)
    throw new ToolError('USAGE', 'name the runs to watch, or give --all', {
      suggestion: 'toolable watch latest',
    })
  const chosen = chooseProgress(progress, context)
  host.prepareForTools(redirectStrayOutput)
  const root = findRunsFolder(io.cwd, config)
  await recoverRuns(root)
  const opened = all
    ? listRuns(root)
        .filter(({ paths }) => isRunLive(paths))
        .reverse()
        .map(({ id }) => openRun(root, id))
    : await Promise.all(run.map((word) => openWatchedRun(root, word)))
  const watcher = await createWatcher(context, { progress: chosen, root, runs: opened, since })
  const statuses = await Promise.all(
    opened.map((one) => watchRun(root, one, watcher, host.signal)),
  ).finally(watcher.end)
  await io.stdout.flush()
  return host.signal.aborted ? ABORTED_STATUS : (statuses.find((status) => status !== 0) ?? 0)
}

async function openWatchedRun(root: string, word: string): Promise<WatchedRun> {
  return (await tryOpenInlineRun(root, word)) ?? openRun(root, word)
}

// A workflow that a program executes without a folder for it.
async function tryOpenInlineRun(root: string, word: string): Promise<InlineRun | undefined> {
  if (!isRunIdWithoutFolder(root, word)) return undefined
  return (await import('../../workflow/inline-run.ts')).openInlineRun(root, word)
}

async function watchRun(
  root: string,
  opened: WatchedRun,
  watcher: Watcher,
  signal: AbortSignal,
): Promise<number> {
  const { request } = opened
  const isInline = 'events' in opened
  const summary = createSummaryBuilder(request)
  const batches = isInline
    ? opened.events({ follow: true, signal })
    : followRun(root, opened.paths, signal)
  for await (const events of batches) {
    for (const event of events) summary.add(event)
    await watcher.addEvents(opened, events)
    if (watcher.closed) break
  }
  const isOver = isFinished(summary.current().state) || watcher.closed || signal.aborted
  // An execution that its program left continues as a run, which reports it from its beginning.
  if (isInline && !isOver)
    return watchRun(root, await openWatchedRun(root, request.run_id), watcher, signal)
  return getExitStatus(summary.current())
}

/** Opens what stdout carries of watched runs, and what is shown beside it. */
async function createWatcher(context: BuiltinContext, watching: WatchOptions): Promise<Watcher> {
  const { io } = context
  const { progress, runs, since } = watching
  const named = runs.length > 1
  const forPeople = isTextOutput(context)
  const hasTree = progress === 'tree'
  const printers: LinePrinter[] = []
  if (!forPeople || progress === 'words' || (hasTree && !io.stdout.isTTY))
    printers.push(createLinePrinter(context, { named }))
  if (progress === 'words-beside')
    printers.push(createLinePrinter(context, { named, beside: true }))
  const tree =
    hasTree || (forPeople && progress !== 'words')
      ? await openTreeWatcher(context, watching, forPeople)
      : undefined
  const print = async (events: readonly RunEvent[]): Promise<void> => {
    const wanted = events.filter(({ seq }) => seq >= since)
    for (const printer of printers) await printer.events(wanted)
    if (progress === 'events-beside')
      await io.stderr.send(wanted.map((event) => `${JSON.stringify(event)}\n`).join(''))
  }
  return {
    async addEvents(run, events) {
      const isShared = printers.length > 0 && io.stdout.isTTY
      await (tree && isShared ? tree.aside(() => print(events)) : print(events))
      await tree?.addEvents(run, events)
    },
    get closed() {
      return io.stdout.closed === true
    },
    end: async () => tree?.end(),
  }
}

async function openTreeWatcher(
  context: OutputContext,
  watching: WatchOptions,
  forPeople: boolean,
): Promise<TreeWatcher> {
  const { createTreeWatcher } = await import('../run/terminal-views.ts')
  return createTreeWatcher(context, watching, forPeople && context.io.stdout.isTTY)
}

type RunLogsInput = {
  readonly run: string
  readonly follow?: boolean
  readonly stderr?: boolean
  readonly type?: readonly string[]
  readonly since?: number
  readonly config?: string
}

/** Prints the record of a run; gives the exit status, which says nothing of the run. */
export async function printRunLogs(
  { run, follow = false, stderr = false, type, since = 1, config }: RunLogsInput,
  context: BuiltinContext,
): Promise<number> {
  const { io, host } = context
  host.prepareForTools(redirectStrayOutput)
  const root = findRunsFolder(io.cwd, config)
  await recoverRuns(root)
  const inline = await tryOpenInlineRun(root, run)
  const paths = inline ? undefined : findRun(root, run)
  const printer = createLinePrinter(context, { everything: type !== undefined })
  const { signal } = host
  if (!stderr) {
    const isWanted = (event: RunEvent): boolean =>
      event.seq >= since && (type?.includes(event.type) ?? true)
    const batches = paths
      ? readRunEvents(root, paths, follow, signal)
      : inline!.events({ follow, signal })
    for await (const events of batches) {
      await printer.events(events.filter(isWanted))
      if (printer.closed) break
    }
  }
  // Tools inside a program have no stderr of their own.
  if (stderr && paths) await printStderr(paths, follow, printer, signal)
  await io.stdout.flush()
  return signal.aborted ? ABORTED_STATUS : 0
}

function readRunEvents(
  root: string,
  paths: RunPaths,
  follow: boolean,
  signal: AbortSignal,
): AsyncIterable<readonly RunEvent[]> {
  return follow ? followRun(root, paths, signal) : readEventBatches(paths.events, { signal })
}

async function printStderr(
  paths: RunPaths,
  follow: boolean,
  printer: LinePrinter,
  signal: AbortSignal,
): Promise<void> {
  for await (const lines of followLines(paths.stderr, {
    follow,
    signal,
    isComplete: () => !isRunLive(paths),
    withTail: true,
  })) {
    await printer.text(paths.id, 'stderr', lines)
    if (printer.closed) return
  }
}

/**
 * The events of a run until it is over. Where its runner dies meanwhile, the record is finished and
 * read to its end.
 */
async function* followRun(
  root: string,
  paths: RunPaths,
  signal: AbortSignal,
): AsyncGenerator<RunEvent[]> {
  let standing: RunStateInfo = INITIAL_RUN_STATE
  let seen = 0
  const follow = async function* (more: boolean): AsyncGenerator<RunEvent[]> {
    for await (const events of readEventBatches(paths.events, {
      follow: more,
      from: seen + 1,
      signal,
      isComplete: () => !isRunLive(paths),
    })) {
      for (const event of events) standing = applyRunEvent(standing, event) ?? standing
      seen = events.at(-1)!.seq
      yield events
    }
  }
  yield* follow(true)
  if (isFinished(standing.state) || signal.aborted) return
  await recoverRuns(root)
  yield* follow(false)
}

type ExportRunInput = {
  readonly run: string
  readonly format?: 'otlp'
  readonly endpoint?: string
  readonly config?: string
}

/** Prints the spans of a run, or sends them where the caller says; gives the exit status. */
export async function exportRun(
  { run, endpoint, config }: ExportRunInput,
  { io, host }: BuiltinContext,
): Promise<number> {
  host.prepareForTools(redirectStrayOutput)
  const root = findRunsFolder(io.cwd, config)
  await recoverRuns(root)
  const { paths, request } = openRun(root, run)
  const traces = await exportTrace(request, readEvents(paths.events, { signal: host.signal }))
  if (endpoint === undefined) io.stdout.write(`${JSON.stringify(traces)}\n`)
  else {
    await sendTrace(endpoint, traces, host.signal)
    io.stdout.write(
      `${JSON.stringify({ run_id: paths.id, spans: traces.resourceSpans[0].scopeSpans[0].spans.length, endpoint })}\n`,
    )
  }
  await io.stdout.flush()
  return 0
}
