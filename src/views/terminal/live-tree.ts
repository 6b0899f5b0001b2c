/**
 * Runs as live trees at the bottom of a terminal.
 *
 * run-rows.ts turns the model of a run into rows, rows.ts fits rows into a window, painter.ts writes only what changed. theme.ts has colours and symbols, run-words.ts the words for states and questions and the last lines of a run.
 */

import type { Io, Screen } from '../../protocol/io.ts'
import type { RunEvent } from '../../protocol/run-state.ts'
import { isObject } from '../../util/values.ts'
import { getMessage, toEventText } from '../model/event-text.ts'
import { formatDuration } from '../model/format.ts'
import { applyEvent } from '../model/run-model-events.ts'
import { createRunModel } from '../model/run-model.ts'
import type { RunModel, RunModelInput } from '../model/run-model.ts'
import { createPainter } from './painter.ts'
import type { RowCounter } from './painter.ts'
import { foldRows, renderRow } from './rows.ts'
import { createRunRows } from './run-rows.ts'
import type { LogTail, TreeOptions } from './run-rows.ts'
import { toQuestionText } from './run-words.ts'
import type { Theme, ThemeRole } from './theme.ts'

type LiveTreeOptions = {
  readonly io: Pick<Io, 'stderr' | 'now'>
  readonly screen: Screen
  readonly look: Theme
  /** Several runs are shown: trees and lines say their ids. */
  readonly named: boolean
  readonly quiet: boolean
  readonly verbose: boolean
  /** Questions are answered at this terminal. */
  readonly answersHere: boolean
  /** Who answers here, as records call him. */
  readonly person: string
  /** The end of the log of a run, where there is one. */
  readonly readTail: (run: string) => LogTail | undefined
}

/** A run in the picture. */
export type LiveRun = {
  readonly model: RunModel
  /** What happened before anybody looked: it is seen in the tree alone. */
  addPastEvents(events: readonly RunEvent[]): void
  /** What happens now; with `scroll` false nothing of it scrolls by. */
  addEvents(events: readonly RunEvent[], scroll?: boolean): Promise<void>
}

/** Runs as trees at the bottom of a terminal, which move until they are over. */
export type LiveTree = {
  show(asked: RunModelInput): LiveRun
  /** Takes the picture away for something that writes by itself. */
  aside(work: () => void | Promise<void>): Promise<void>
  above(lines: readonly string[]): Promise<void>
  /** Asks the user below the picture, in about this many rows; question and answer stay above. */
  ask<T>(
    question: { readonly prompt: string; readonly rows: number },
    work: (rows: RowCounter) => Promise<T>,
  ): Promise<T>
  /** Leaves the picture as it is at the end. */
  finish(): Promise<void>
}

/** Of more failures than these only a line is shown. */
const MAX_OPEN_FAILURES = 3
/** The last picture may be taller than the window: it scrolls. */
const MAX_FINAL_ROWS = 60

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
  const runs: { readonly model: RunModel; readonly tails: Map<string, LogTail> }[] = []
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
    return renderTrees(
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
      if (tails.size >= MAX_OPEN_FAILURES) return
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
      const run = { model, tails: new Map<string, LogTail>() }
      const place = runs.findIndex((one) => one.model.run_id === asked.run_id)
      // A run that is replayed from its start replaces what was shown.
      if (place >= 0) runs[place] = run
      else runs.push(run)
      return {
        model,
        addPastEvents: (events) => events.forEach((event) => applyEvent(model, event)),
        async addEvents(events, scroll = true) {
          const scrolled = events.flatMap((event) => {
            applyEvent(model, event)
            return scroll
              ? renderScrolledLines(event, model, { look, named, quiet, verbose, person })
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
              renderAnsweredLine(
                prompt,
                typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? ''),
                look,
              ),
            ],
      ),
    finish: () =>
      painter.finish(lines(0, screen.columns, Math.max(screen.rows - 1, MAX_FINAL_ROWS))),
  }
}

/** What is shown of a run. */
type TreeInput = { readonly model: RunModel; readonly options: TreeOptions }

/** The lines of one or more trees, each narrower than the window; no more than `height` of them. */
export function renderTrees(
  trees: readonly TreeInput[],
  { columns, height }: { readonly columns: number; readonly height: number },
): readonly string[] {
  const [first] = trees
  if (!first) return []
  const { look } = first.options
  const rows = trees.flatMap(({ model, options }) => createRunRows(model, options))
  return foldRows(rows, height, look.glyphs.cut).map((row) => renderRow(row, columns, look))
}

type ScrollOptions = {
  readonly look: Theme
  /** Each line says which run it is of. */
  readonly named: boolean
  readonly quiet: boolean
  readonly verbose: boolean
  /** Who answers here; the dialogue already shows that answer. */
  readonly person: string
}

const MAX_TEXT_CHARS = 4000

/**
 * What an event leaves above the tree, line by line: what the tool says, and what went wrong on the
 * way. Everything else is seen in the tree. `model` is as it was after the event.
 */
export function renderScrolledLines(
  event: RunEvent,
  model: RunModel,
  { look, named, quiet, verbose, person }: ScrollOptions,
): readonly string[] {
  const line = (text: string, role?: ThemeRole, word?: string): string =>
    `${named ? `${look.paint('dim', event.run_id)} ` : ''}${word === undefined ? '' : `${look.paint(role ?? 'dim', word)} `}${word === undefined && role ? look.paint(role, look.clean(text)) : look.clean(text)}`
  const all = (text: string, role?: ThemeRole, word?: string): readonly string[] =>
    text
      .slice(0, MAX_TEXT_CHARS)
      .replace(/\r?\n$/, '')
      .split(/\r?\n/)
      .map((one) => line(one, role, word))
  switch (event.type) {
    case 'log': {
      // Step reports are shown by the steps.
      if (event['step_state'] !== undefined && !verbose) return []
      const text = getMessage(event) ?? ''
      const level = event['level']
      if (level === 'error') return all(text, 'bad', `${look.glyphs.bad} error`)
      if (level === 'warn' || level === 'warning') return all(text, 'warn', '! warning')
      if (level === 'debug') return verbose ? all(text, 'dim') : []
      return quiet ? [] : all(text)
    }
    case 'diagnostic': {
      if (quiet) return []
      const text = typeof event['line'] === 'string' ? event['line'] : ''
      return event['reason'] === 'stderr'
        ? all(text, 'dim')
        : all(
            [getMessage(event), text]
              .filter((part) => part !== undefined && part !== '')
              .join(': '),
            'warn',
            '! ignored',
          )
    }
    case 'item':
      return quiet ? [] : all(toEventText(event))
    case 'runner_warning':
      return all(toEventText(event), 'warn', '! warning')
    case 'runner_log':
      return (
        renderAnswer(event, model, person, all) ?? (quiet ? [] : all(toEventText(event), 'dim'))
      )
    case 'runner_end': {
      const again = event['retry_in_s']
      return typeof again === 'number'
        ? all(
            `attempt ${event.attempt} failed: ${[model.error?.code, model.error?.message].filter((part) => part !== undefined).join(' ')}; the next one comes in ${formatDuration(again)}`,
            'warn',
            '! warning',
          )
        : []
    }
    default:
      return []
  }
}

/** A question and its answer, as they stay above the tree. */
function renderAnsweredLine(prompt: string, answer: string, look: Theme): string {
  return `${look.paint('warn', look.glyphs.waiting)} ${look.clean(prompt)} ${look.paint('accent', look.clean(answer))}`
}

function renderAnswer(
  { answer }: RunEvent,
  { questions }: RunModel,
  person: string,
  all: (text: string, role?: ThemeRole, word?: string) => readonly string[],
): readonly string[] | undefined {
  if (!isObject(answer)) return undefined
  if (answer['by'] === person) return []
  const asked = questions.findLast(({ question }) => question.id === answer['id'])
  const prompt = asked ? toQuestionText(asked.question) : String(answer['id'])
  if (answer['withdrawn'] === true) return all(`nobody waits for the answer to: ${prompt}`, 'dim')
  const value = answer['value']
  return all(
    `${prompt} ${typeof value === 'string' ? value : (JSON.stringify(value) ?? '')} (${String(answer['by'])})`,
    'warn',
    '? answer',
  )
}
