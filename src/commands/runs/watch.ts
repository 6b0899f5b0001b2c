/**
 * `toolable watch`, `toolable runs logs` and `toolable runs export`: following and printing the record of runs.
 */

import { choosePresentation } from '../../cli/presentation.ts'
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
import { chooseProgress } from '../command.ts'
import type { WatchedRun, Watcher, WatchOptions } from '../run/tree-views.ts'
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
  const { io, host, globals } = context
  if (run.length > 0 === all)
    throw new ToolError('USAGE', 'name the runs to watch, or give --all', {
      suggestion: 'toolable watch latest',
    })
  const chosen = chooseProgress(progress, globals, io)
  host.prepareForTools(redirectStrayOutput)
  const root = findRunsFolder(io.cwd, config)
  await recoverRuns(root)
  const opened = all
    ? listRuns(root)
        .filter(({ paths }) => isRunLive(paths))
        .reverse()
        .map(({ id }) => openRun(root, id))
    : await Promise.all(run.map((word) => openWatchedRun(root, word)))
  const onlooker = await createWatcher(context, { progress: chosen, root, runs: opened, since })
  const statuses = await Promise.all(
    opened.map((one) => watchRun(root, one, onlooker, host.signal)),
  ).finally(onlooker.end)
  await io.stdout.flush()
  return host.signal.aborted ? ABORTED_STATUS : (statuses.find((status) => status !== 0) ?? 0)
}

async function openWatchedRun(root: string, word: string): Promise<WatchedRun> {
  return (
    (isRunIdWithoutFolder(root, word)
      ? await (await import('../../workflow/inline-run.ts')).openInlineRun(root, word)
      : undefined) ?? openRun(root, word)
  )
}

async function watchRun(
  root: string,
  opened: WatchedRun,
  onlooker: Watcher,
  signal: AbortSignal,
): Promise<number> {
  const { request } = opened
  const summary = createSummaryBuilder(request)
  for await (const events of 'events' in opened
    ? opened.events({ follow: true, signal })
    : followRun(root, opened.paths, signal)) {
    for (const event of events) summary.add(event)
    await onlooker.addEvents(opened, events)
    if (onlooker.closed) break
  }
  // What its program left goes on as a run, which tells it from its beginning.
  if (
    'events' in opened &&
    !isFinished(summary.current().state) &&
    !onlooker.closed &&
    !signal.aborted
  )
    return watchRun(root, await openWatchedRun(root, request.run_id), onlooker, signal)
  return getExitStatus(summary.current())
}

/** Opens what stdout carries of watched runs, and what is shown beside it. */
async function createWatcher(context: BuiltinContext, watching: WatchOptions): Promise<Watcher> {
  const { io, globals } = context
  const { progress, runs, since } = watching
  const named = runs.length > 1
  const forPeople = choosePresentation(globals, io).mode === 'text'
  const printers: readonly LinePrinter[] = [
    ...(!forPeople || progress === 'words' || (progress === 'tree' && !io.stdout.isTTY)
      ? [createLinePrinter(context, { named })]
      : []),
    ...(progress === 'words-beside' ? [createLinePrinter(context, { named, beside: true })] : []),
  ]
  const tree =
    progress === 'tree' || (forPeople && progress !== 'words')
      ? await (
          await import('../run/tree-views.ts')
        ).createTreeWatcher(context, watching, forPeople && io.stdout.isTTY)
      : undefined
  const print = async (events: readonly RunEvent[]): Promise<void> => {
    const wanted = events.filter(({ seq }) => seq >= since)
    for (const printer of printers) await printer.events(wanted)
    if (progress === 'events-beside')
      await io.stderr.send(wanted.map((event) => `${JSON.stringify(event)}\n`).join(''))
  }
  return {
    async addEvents(run, events) {
      await (tree && printers.length > 0 && io.stdout.isTTY
        ? tree.aside(() => print(events))
        : print(events))
      await tree?.addEvents(run, events)
    },
    get closed() {
      return io.stdout.closed === true
    },
    end: async () => tree?.end(),
  }
}

type RunLogsInput = {
  readonly run: string
  readonly follow?: boolean
  readonly stderr?: boolean
  readonly type?: readonly string[]
  readonly since?: number
  readonly config?: string
}

const CANCELLED_STATUS = 130

/** Prints the record of a run; gives the exit status, which says nothing of the run. */
export async function printRunLogs(
  { run, follow = false, stderr = false, type, since = 1, config }: RunLogsInput,
  context: BuiltinContext,
): Promise<number> {
  const { io, host } = context
  host.prepareForTools(redirectStrayOutput)
  const root = findRunsFolder(io.cwd, config)
  await recoverRuns(root)
  const light = isRunIdWithoutFolder(root, run)
    ? await (await import('../../workflow/inline-run.ts')).openInlineRun(root, run)
    : undefined
  const paths = light ? undefined : findRun(root, run)
  const printer = createLinePrinter(context, { everything: type !== undefined })
  // Tools inside a program have no stderr of their own.
  if (stderr) await (paths && printStderr(paths, follow, printer, host.signal))
  else {
    for await (const events of !paths
      ? light!.events({ follow, signal: host.signal })
      : follow
        ? followRun(root, paths, host.signal)
        : readEventBatches(paths.events, { signal: host.signal })) {
      await printer.events(
        events.filter(
          (event) => event.seq >= since && (type === undefined || type.includes(event.type)),
        ),
      )
      if (printer.closed) break
    }
  }
  await io.stdout.flush()
  return host.signal.aborted ? CANCELLED_STATUS : 0
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
 * The events of a run until it is over, whoever ends it: where its runner dies meanwhile, the
 * record is finished and read to its end.
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
