import type { Io, Screen } from '../../contract/io.ts'
import type { RunEvent } from '../../contract/run-state.ts'
import { applyEvent } from '../model/run-model/apply-event.ts'
import { createRunModel } from '../model/run-model/create-run-model.ts'
import type { AskedRun } from '../model/run-model/create-run-model.ts'
import type { RunModel } from '../model/run-model/run-model-type.ts'
import type { RowCounter } from './count-rows.ts'
import type { Tail, TreeOptions } from './layout/run-rows.ts'
import { treeLines } from './layout/tree.ts'
import type { Look } from './look.ts'
import { createPainter } from './painter.ts'
import { answeredLine, scrolledLines } from './scrolled.ts'

export type LiveTreeOptions = {
  readonly io: Pick<Io, 'stderr' | 'now'>
  readonly screen: Screen
  readonly look: Look
  /** Several runs are shown: trees and lines say their ids. */
  readonly named: boolean
  readonly quiet: boolean
  readonly verbose: boolean
  /** Questions are answered at this terminal. */
  readonly answersHere: boolean
  /** Who answers here, as records call him. */
  readonly person: string
  /** The end of the log of a run, where there is one. */
  readonly readTail: (run: string) => Tail | undefined
}

/** A run in the picture. */
export type ShownRun = {
  readonly model: RunModel
  /** What happened before anybody looked: it is seen in the tree alone. */
  recall(events: readonly RunEvent[]): void
  /** What happens now; with `scroll` false nothing of it scrolls by. */
  hear(events: readonly RunEvent[], scroll?: boolean): Promise<void>
}

/** Runs as trees at the bottom of a terminal, which move until they are over. */
export type LiveTree = {
  show(asked: AskedRun): ShownRun
  /** Takes the picture away for something that writes by itself. */
  aside(work: () => void | Promise<void>): Promise<void>
  above(lines: readonly string[]): Promise<void>
  /** Has somebody asked below the picture, in about so many rows; question and answer stay above. */
  ask<T>(
    question: { readonly prompt: string; readonly rows: number },
    work: (rows: RowCounter) => Promise<T>,
  ): Promise<T>
  /** Leaves the picture as it is at the end. */
  finish(): Promise<void>
}

/** Of more failures than these only a line is shown. */
const MOST_OPEN = 3
/** The last picture may be taller than the window: it scrolls. */
const TALLEST_END = 60

/** Opens the picture; it is drawn from the first tick on. */
export function openLiveTree({
  io,
  screen,
  look,
  named,
  quiet,
  verbose,
  answersHere,
  person,
  readTail,
}: LiveTreeOptions): LiveTree {
  const runs: { readonly model: RunModel; readonly tails: Map<string, Tail> }[] = []
  const lines = (
    tick: number,
    columns: number,
    height: number,
    asking = false,
  ): readonly string[] => {
    const options: Omit<TreeOptions, 'tails'> = {
      look,
      now: io.now(),
      tick,
      named,
      answersHere,
      asking,
    }
    return treeLines(
      runs.map(({ model, tails }) => ({ model, options: { ...options, tails } })),
      { columns, height },
    )
  }
  const painter = createPainter({
    stderr: io.stderr,
    screen,
    frame: ({ columns, rows, tick, below }) =>
      lines(tick, columns, Math.max(1, rows - 1 - below), below > 0),
  })
  const openFailures = ({ model, tails }: (typeof runs)[number]): void => {
    for (const { key, state, run_id } of model.steps) {
      if (tails.size >= MOST_OPEN) return
      if (state !== 'failed' || run_id === undefined || tails.has(key)) continue
      const tail = readTail(run_id)
      if (tail) tails.set(key, tail)
    }
    // Otherwise its lines stand above the tree already.
    if (quiet && model.state === 'failed' && !tails.has('') && tails.size === 0)
      tails.set('', readTail(model.run_id) ?? { lines: model.tail })
  }
  return {
    show(asked) {
      const model = createRunModel(asked)
      const run = { model, tails: new Map<string, Tail>() }
      const place = runs.findIndex((one) => one.model.run_id === asked.run_id)
      // What is told again from its beginning takes the place of what was told before.
      if (place >= 0) runs[place] = run
      else runs.push(run)
      return {
        model,
        recall: (events) => events.forEach((event) => applyEvent(model, event)),
        async hear(events, scroll = true) {
          const scrolled = events.flatMap((event) => {
            applyEvent(model, event)
            return scroll
              ? scrolledLines(event, model, { look, named, quiet, verbose, person })
              : []
          })
          openFailures(run)
          await painter.above(scrolled)
        },
      }
    },
    above: (more) => painter.above(more),
    aside: (work) => painter.aside(work),
    ask: ({ prompt, rows }, work) =>
      painter.ask(rows, work, (answer) =>
        answer === undefined
          ? []
          : [
              answeredLine(
                prompt,
                typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? ''),
                look,
              ),
            ],
      ),
    finish: () => painter.finish(lines(0, screen.columns, Math.max(screen.rows - 1, TALLEST_END))),
  }
}
