/**
 * Live trees on stderr: of `toolable run` and of watched runs. Loaded only where a tree is drawn.
 */

import { dirname } from 'node:path'
import { captureStrayLines } from '../../cli/progress.ts'
import type { BuiltinContext } from '../../cli/types.ts'
import type { GlobalFlags } from '../../define/global-flags.ts'
import type { Io } from '../../protocol/io.ts'
import type { RunEvent } from '../../protocol/run-state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { openRun } from '../../runner/find-run.ts'
import type { RunQuestion } from '../../runner/questions.ts'
import { applyEvent } from '../../views/model/run-model-events.ts'
import type { RunModel } from '../../views/model/run-model.ts'
import { createRunModel } from '../../views/model/run-model.ts'
import type { LiveRun, LiveTree } from '../../views/terminal/live-tree.ts'
import { openLiveTree } from '../../views/terminal/live-tree.ts'
import type { Theme } from '../../views/terminal/theme.ts'
import type { InlineRun } from '../../workflow/inline-run.ts'
import type { ProgressStyle } from '../command.ts'
import { PERSON_NAME } from '../command.ts'
import type { RunEndReporter } from './result-view.ts'
import { createRunEndReporter, createStderrTheme } from './result-view.ts'
import type { RunViewPart, ViewedRun } from './view-parts.ts'
import {
  createShownQuestions,
  readEarlierEvents,
  readLogTail,
  toRunModelInput,
} from './view-parts.ts'

/** The view of a run as a live tree on stderr, and the way to write beside it. */
export type TreeView = Required<RunViewPart> & { aside(work: () => Promise<void>): Promise<void> }

/** Opens it. With `result`, the result of the run is printed on stdout in words. */
export async function openTreeView(
  { paths, request, io, globals, person, resumed }: ViewedRun,
  { result }: { readonly result: boolean },
): Promise<TreeView> {
  const root = dirname(paths.folder)
  const tree = await openTerminalTree({ root, named: false, answersHere: person }, io, globals)
  const run = tree.show(toRunModelInput(request))
  const end = createRunEndReporter({
    request,
    paths,
    root,
    model: run.model,
    look: tree.look,
    io,
    globals,
  })
  for await (const events of readEarlierEvents({ paths, resumed })) run.addPastEvents(events)
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
      return tree.ask({ prompt: question.prompt, rows: countQuestionRows(question) }, work)
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

/** Somebody who sees runs as live trees, and can step aside. */
export type TreeWatcher = Watcher & { aside(work: () => Promise<void>): Promise<void> }

/**
 * Opens the trees of watched runs; without a tree only their ends are told. With `result`, results
 * are printed on stdout in words.
 */
export async function createTreeWatcher(
  { io, globals }: BuiltinContext,
  { progress, root, runs, since }: WatchOptions,
  result: boolean,
): Promise<TreeWatcher> {
  const tree =
    progress === 'tree'
      ? await openTerminalTree({ root, named: runs.length > 1, answersHere: false }, io, globals)
      : undefined
  const look = tree?.look ?? createStderrTheme(io, globals)
  const seen = new Map<
    WatchedRun,
    {
      readonly run: Pick<LiveRun, 'model' | 'addPastEvents' | 'addEvents'>
      readonly end: RunEndReporter
    }
  >()
  const open = (watched: WatchedRun): NonNullable<ReturnType<typeof seen.get>> => {
    const { request } = watched
    const asked =
      'events' in watched
        ? { ...watched.request, workflow: true }
        : toRunModelInput(watched.request)
    const run = tree ? tree.show(asked) : createHiddenRun(createRunModel(asked))
    const end = createRunEndReporter({
      request,
      paths: 'events' in watched ? undefined : watched.paths,
      root,
      model: run.model,
      look,
      io,
      globals,
    })
    // What its program left goes on as a run, which tells it from its beginning.
    for (const [
      other,
      {
        run: { model },
      },
    ] of seen)
      if (model.run_id === asked.run_id) seen.delete(other)
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
    aside: (work) => (tree as LiveTree | undefined)?.aside(work) ?? work(),
    async end() {
      await tree?.finish()
      for (const {
        run: { model },
        end,
      } of seen.values()) {
        if (result) await end.printResult()
        if (tree || model.state !== 'completed') await end.printLastLines()
      }
    },
  }
}

function createHiddenRun(model: RunModel): Pick<LiveRun, 'model' | 'addPastEvents' | 'addEvents'> {
  const recall = (events: readonly RunEvent[]): void =>
    events.forEach((event) => applyEvent(model, event))
  return { model, addPastEvents: recall, addEvents: async (events) => recall(events) }
}

/** A run that is watched. */
export type WatchedRun = ReturnType<typeof openRun> | InlineRun

/** Somebody who sees what becomes of runs. */
export type Watcher = {
  addEvents(run: WatchedRun, events: readonly RunEvent[]): Promise<void>
  /** Nobody reads any more. */
  readonly closed: boolean
  /** All runs are over, or nobody wants to see more. */
  end(): Promise<void>
}

export type WatchOptions = {
  readonly progress: ProgressStyle
  readonly root: string
  /** In the order in which they are shown, whichever speaks first. */ readonly runs: readonly WatchedRun[]
  /** The first event that counts. */ readonly since: number
}

type OpenTreeOptions = {
  /** The folder of the runs. */ readonly root: string
  readonly named: boolean
  readonly answersHere: boolean
}

/** A live tree on the terminal of this process. Loaded only where one is drawn. */
export async function openTerminalTree(
  { root, named, answersHere }: OpenTreeOptions,
  io: Io,
  globals: GlobalFlags,
): Promise<LiveTree & { readonly look: Theme }> {
  const screen = await io.screen?.()
  if (!screen) throw new ToolError('INTERNAL', 'there is no terminal to draw on')
  const look = createStderrTheme(io, globals)
  const tree = openLiveTree({
    io,
    screen,
    look,
    named,
    answersHere,
    quiet: globals.quiet === true,
    verbose: (globals.verbose ?? 0) > 0,
    person: PERSON_NAME,
    readTail: (run) => readLogTail(root, run, io.cwd),
  })
  return { ...tree, look }
}

/** About how many rows of a terminal a question takes. */
export function countQuestionRows({
  prompt,
  options = [],
  problem,
}: Pick<RunQuestion, 'prompt' | 'options' | 'problem'>): number {
  return (
    prompt.split('\n').length +
    options.length +
    (options.length > 0 ? 1 : 0) +
    (problem === undefined ? 0 : 1)
  )
}
