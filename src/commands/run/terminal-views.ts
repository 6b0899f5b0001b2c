/**
 * Views of runs that end with words about the result: live trees on stderr of `toolable run` and of
 * watched runs, and the view that shows nothing else. Loaded only where one of them is needed.
 */

import { dirname } from 'node:path'
import { renderText } from '../../cli/formats/text.ts'
import { captureStrayLines } from '../../cli/progress.ts'
import type { RunEvent } from '../../protocol/run-state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { openRun } from '../../runner/find-run.ts'
import type { RunQuestion } from '../../runner/questions.ts'
import type { RunRequest } from '../../runner/request.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { getRunPaths } from '../../runner/run-paths.ts'
import { applyEvent } from '../../views/model/run-model-events.ts'
import type { RunModel } from '../../views/model/run-model.ts'
import { createRunModel } from '../../views/model/run-model.ts'
import type { LiveRun, LiveTree } from '../../views/terminal/live-tree.ts'
import { renderClosing } from '../../views/terminal/run-words.ts'
import type { Theme } from '../../views/terminal/theme.ts'
import { createTheme, supportsUnicode } from '../../views/terminal/theme.ts'
import type { InlineRun } from '../../workflow/inline-run.ts'
import { findResumeCommand } from '../../workflow/lookup.ts'
import type { OutputContext, ProgressStyle } from '../command.ts'
import { getPresentation, PERSON_NAME } from '../command.ts'
import type { AskPerson } from './consent.ts'
import type { RunViewPart, ViewedRun } from './view-parts.ts'
import {
  createResumedSummary,
  createShownQuestions,
  getLogPath,
  listKeptFiles,
  readEarlierEvents,
  readLogTail,
  toRunModelInput,
} from './view-parts.ts'

/** What has to be known of a run when it is over; fed with its events. */
export type RunEndReporter = {
  add(event: RunEvent): void
  /** Prints the result on stdout, for people who look at nothing else there. */
  printResult(): Promise<void>
  /** Prints the last lines on stderr. */
  printLastLines(): Promise<void>
}

type EndedRunInfo = {
  readonly request: Pick<RunRequest, 'run_id' | 'tool' | 'created' | 'command'>
  /** Undefined for an execution without a folder. */
  readonly paths?: RunPaths
}

/** Reports the end of a run in words. */
function createRunEndReporter(
  { request, paths }: EndedRunInfo,
  model: RunModel,
  { io, globals }: OutputContext,
): RunEndReporter {
  const facts = createResumedSummary(request)
  let plain = false
  return {
    add(event) {
      facts.add(event)
      // What a plain program printed has been seen line by line.
      if (event.type === 'result') plain = Object.hasOwn(event, 'exit_status')
    },
    async printResult() {
      const { state, result } = model
      if (plain || state !== 'completed' || result === undefined || result === null) return
      const { columns, color } = getPresentation({ io, globals })
      await io.stdout.send(renderText(result, { columns, color }))
      await io.stdout.flush()
    },
    async printLastLines() {
      const run = facts.current()
      const goOn = paths && (await findResumeCommand(paths, request, run))
      const lines = renderClosing(model, {
        look: createStderrTheme({ io, globals }),
        files: paths ? listKeptFiles(run, paths, io.cwd) : [],
        goOn,
        log: paths && getLogPath(paths, io.cwd),
        quiet: globals.quiet === true,
      })
      await io.stderr.send(lines.map((line) => `${line}\n`).join(''))
    },
  }
}

/** The look of what is written to stderr. */
function createStderrTheme(context: OutputContext): Theme {
  return createTheme({
    color: getPresentation(context).stderrColor,
    unicode: supportsUnicode(context.io.env),
  })
}

/** A view that shows only the result, and why there is none. */
export async function openResultView(run: ViewedRun): Promise<RunViewPart> {
  const model = createRunModel(toRunModelInput(run.request))
  for await (const events of readEarlierEvents(run))
    for (const event of events) applyEvent(model, event)
  const end = createRunEndReporter(run, model, run)
  return {
    async show(_lines, events) {
      for (const event of events()) {
        applyEvent(model, event)
        end.add(event)
      }
    },
    async sumUp() {
      await end.printResult()
      if (model.state !== 'completed') await end.printLastLines()
    },
  }
}

/** The view of a run as a live tree on stderr, and the way to write beside it. */
export type TreeView = Required<RunViewPart> & { aside(work: () => Promise<void>): Promise<void> }

/** Opens it. With `result`, the result of the run is printed on stdout in words. */
export async function openTreeView(
  viewed: ViewedRun,
  { result }: { readonly result: boolean },
): Promise<TreeView> {
  const { tree, run, end } = await openRunTree(viewed, viewed.person, viewed)
  for await (const events of readEarlierEvents(viewed)) run.addPastEvents(events)
  const questions = createShownQuestions()
  // What was printed by something that belongs to no call.
  const endHearing = captureStrayLines(
    (line) => void tree.above([tree.look.paint('dim', tree.look.clean(line))]),
  )
  return {
    async show(_lines, events) {
      events().forEach(end.add)
      await run.addEvents(events())
      questions.addShown(events())
    },
    async ask(question, signal, work) {
      await questions.untilShown(question.id, signal)
      return askBeside(tree, question, work)
    },
    aside: tree.aside,
    async sumUp() {
      endHearing()
      await tree.finish()
      if (result) await end.printResult()
      await end.printLastLines()
    },
    close() {
      endHearing()
      return tree.finish()
    },
  }
}

/** Opens the live tree of one run. */
export async function openRunTree(
  { request, paths }: Pick<ViewedRun, 'request' | 'paths'>,
  answersHere: boolean,
  context: OutputContext,
): Promise<{
  readonly tree: TerminalTree
  readonly run: ReturnType<LiveTree['show']>
  readonly end: RunEndReporter
}> {
  const root = dirname(paths.folder)
  const tree = await openTerminalTree({ root, named: false, answersHere }, context)
  const run = tree.show(toRunModelInput(request))
  return { tree, run, end: createRunEndReporter({ request, paths }, run.model, context) }
}

/** Shows runs as live trees, and can step aside. */
export type TreeWatcher = Watcher & { aside(work: () => Promise<void>): Promise<void> }

/**
 * Opens the trees of watched runs; without a tree only their ends are reported. With `result`, results
 * are printed on stdout in words.
 */
export async function createTreeWatcher(
  context: OutputContext,
  { progress, root, runs, since }: WatchOptions,
  result: boolean,
): Promise<TreeWatcher> {
  const tree =
    progress === 'tree'
      ? await openTerminalTree({ root, named: runs.length > 1, answersHere: false }, context)
      : undefined
  const seen = new Map<WatchedRun, { readonly run: WatchedModel; readonly end: RunEndReporter }>()
  const open = (watched: WatchedRun): NonNullable<ReturnType<typeof seen.get>> => {
    const asked =
      'events' in watched
        ? { ...watched.request, workflow: true }
        : toRunModelInput(watched.request)
    const run = tree ? tree.show(asked) : createHiddenRun(createRunModel(asked))
    const ended = 'events' in watched ? { request: watched.request } : watched
    const end = createRunEndReporter(ended, run.model, context)
    // An execution that its program left continues as a run, which reports it from its beginning.
    for (const [other, shown] of seen)
      if (shown.run.model.run_id === asked.run_id) seen.delete(other)
    const opened = { run, end }
    seen.set(watched, opened)
    return opened
  }
  runs.forEach(open)
  return {
    closed: false,
    async addEvents(watched, events) {
      const { run, end } = seen.get(watched) ?? open(watched)
      events.forEach(end.add)
      run.addPastEvents(events.filter(({ seq }) => seq < since))
      await run.addEvents(events.filter(({ seq }) => seq >= since))
    },
    aside: (work) => tree?.aside(work) ?? work(),
    async end() {
      await tree?.finish()
      for (const { run, end } of seen.values()) {
        if (result) await end.printResult()
        if (tree || run.model.state !== 'completed') await end.printLastLines()
      }
    },
  }
}

type WatchedModel = Pick<LiveRun, 'model' | 'addPastEvents' | 'addEvents'>

function createHiddenRun(model: RunModel): WatchedModel {
  const recall = (events: readonly RunEvent[]): void =>
    events.forEach((event) => applyEvent(model, event))
  return { model, addPastEvents: recall, addEvents: async (events) => recall(events) }
}

/** A run that is watched. */
export type WatchedRun = ReturnType<typeof openRun> | InlineRun

/** Shows what happens to runs. */
export type Watcher = {
  addEvents(run: WatchedRun, events: readonly RunEvent[]): Promise<void>
  /** The reader is gone. */
  readonly closed: boolean
  /** All runs are over, or the watching was stopped. */
  end(): Promise<void>
}

export type WatchOptions = {
  readonly progress: ProgressStyle
  readonly root: string
  /** In the order in which they are shown. */
  readonly runs: readonly WatchedRun[]
  /** The first event to show. */
  readonly since: number
}

type OpenTreeOptions = {
  /** The folder of the runs. */
  readonly root: string
  readonly named: boolean
  readonly answersHere: boolean
}

/** A live tree, and the theme it is drawn with. */
type TerminalTree = LiveTree & { readonly look: Theme }

/** Opens a live tree on the terminal of this process. */
async function openTerminalTree(
  { root, named, answersHere }: OpenTreeOptions,
  context: OutputContext,
): Promise<TerminalTree> {
  const { io, globals } = context
  const screen = await io.screen?.()
  if (!screen) throw new ToolError('INTERNAL', 'there is no terminal to draw on')
  const { openLiveTree } = await import('../../views/terminal/live-tree.ts')
  const look = createStderrTheme(context)
  const tree = openLiveTree({
    io,
    screen,
    look,
    named,
    answersHere,
    quiet: globals.quiet === true,
    verbose: (globals.verbose ?? 0) > 0,
    person: PERSON_NAME,
    readTail: (run) => readLogTail(getRunPaths(root, run), io.cwd),
  })
  return { ...tree, look }
}

/** Asks a question beside a tree, which makes room for it. */
export function askBeside(
  tree: LiveTree,
  { prompt, options = [], problem }: RunQuestion,
  work: Parameters<AskPerson>[2],
): Promise<unknown> {
  const optionRows = options.length > 0 ? options.length + 1 : 0
  const rows = prompt.split('\n').length + optionRows + (problem === undefined ? 0 : 1)
  return tree.ask({ prompt, rows }, work)
}
