/**
 * The rows of the tree of one run: the run, its steps, open questions and the tails of logs.
 */

import { isFinished } from '../../protocol/run-state.ts'
import { compact } from '../../util/values.ts'
import { formatDuration } from '../model/format.ts'
import type { RunModel, StepModel } from '../model/run-model.ts'
import { listOpenQuestions } from '../model/run-model.ts'
import type { TreeRow } from './rows.ts'
import {
  findAskingStep,
  getStateIcon,
  getStateWord,
  STATE_STYLES,
  toAnswerCommand,
  toQuestionText,
} from './run-words.ts'
import type { Theme } from './theme.ts'

/** The end of a log, and where the whole of it is. */
export type LogTail = { readonly lines: readonly string[]; readonly path?: string }

/** What a tree says besides the model. */
export type TreeOptions = {
  readonly look: Theme
  /** Milliseconds. */
  readonly now: number
  readonly tick: number
  /** Questions are answered here; elsewhere the tree says how. */
  readonly answersHere: boolean
  /** A question is being asked below the tree. */
  readonly asking: boolean
  /** Several runs are shown: each says its id. */
  readonly named: boolean
  /** Logs of what failed, by the path of the step; that of the run itself is ''. */
  readonly tails: ReadonlyMap<string, LogTail>
}

/** Silence that is worth a word. */
const SILENT_MS = 2000

/** The tree of a run: the run, then its steps. What is done is one line, what failed is open. */
export function createRunRows(model: RunModel, options: TreeOptions): readonly TreeRow[] {
  const asked = listOpenQuestions(model).map(({ question }) => ({
    question,
    step: findAskingStep(model.steps, question),
  }))
  const folded = new Set<string>()
  const steps = model.steps.flatMap((step) => {
    const inside = step.parent !== undefined && folded.has(step.parent)
    if (inside || step.state === 'ok' || step.state === 'skipped') folded.add(step.key)
    if (inside) return []
    const questions = asked.filter((one) => one.step === step).map(({ question }) => question)
    return [
      createStepRow(step, questions.length > 0, options),
      ...questions.flatMap((question) =>
        createQuestionRows(model, question, step.depth + 2, asked.length > 1, options),
      ),
      ...(step.state === 'failed' || step.state === 'interrupted'
        ? createTailRows(options.tails.get(step.key), step.depth + 2, options.look)
        : []),
    ]
  })
  const more: readonly TreeRow[] =
    model.more_steps > 0
      ? [
          {
            depth: 1,
            icon: { text: options.look.glyphs.cut, role: 'dim' },
            notes: [{ text: `${model.more_steps} more steps`, role: 'dim' }],
            worth: 'done',
          },
        ]
      : []
  const own = asked
    .filter(({ step }) => step === undefined)
    .flatMap(({ question }) => createQuestionRows(model, question, 1, asked.length > 1, options))
  return [
    createHeadRow(model, options),
    ...steps,
    ...more,
    ...own,
    ...(model.state === 'failed' ? createTailRows(options.tails.get(''), 1, options.look) : []),
  ]
}

function createHeadRow(model: RunModel, options: TreeOptions): TreeRow {
  const { state, attempt, attempts, progress, error, steps } = model
  const last = attempts.at(-1)
  const over = isFinished(state)
  const running = steps.some(
    (step) =>
      step.state === 'running' && step.last !== undefined && step.last === progress?.message,
  )
  const said = over || running ? undefined : (progress?.message ?? getLastLogLine(model))
  const retry =
    over && last?.retry_in_s !== undefined
      ? `next attempt in ${formatDuration(last.retry_in_s)}`
      : undefined
  return {
    depth: 0,
    icon: getStateIcon(state, options.look, options.tick),
    name: { text: model.tool, role: 'accent' },
    notes: [
      ...(options.named ? [{ text: model.run_id, role: 'dim' } as const] : []),
      ...getStateWord(state),
      ...(state === 'failed' && error ? [{ text: error.code, role: 'bad' } as const] : []),
      ...(attempt > 1 ? [{ text: `attempt ${attempt}`, role: 'dim' } as const] : []),
      ...(retry === undefined ? [] : [{ text: retry, role: 'warn' } as const]),
      ...(said === undefined ? [] : [{ text: said }]),
    ],
    ...describeSilence(model, options.now),
    ...compact({ percent: over ? undefined : progress?.percent }),
    ...describeTime(last, options.now, state === 'queued'),
    worth: 'head',
  }
}

// Signs of life and what the runner says are no words of the tool; nor is the level of a line.
function getLastLogLine({ steps, last }: RunModel): string | undefined {
  return steps.length === 0 && last?.type === 'log'
    ? last.text.replace(/^(?:debug|info|warn|warning|error) /, '')
    : undefined
}

function createStepRow(step: StepModel, asks: boolean, { look, now, tick }: TreeOptions): TreeRow {
  const state =
    asks && (step.state === 'running' || step.state === 'pending') ? 'waiting' : step.state
  const said = asks ? undefined : getStepText(step, state)
  return {
    depth: step.depth + 1,
    icon: getStateIcon(state, look, tick),
    name: { text: step.name },
    notes: [
      ...getStateWord(state),
      ...(step.tries > 1 ? [{ text: `try ${step.tries}`, role: 'dim' } as const] : []),
      ...(said === undefined
        ? []
        : [{ text: said, role: state === 'failed' ? 'bad' : 'dim' } as const]),
    ],
    ...compact({ percent: state === 'running' ? step.percent : undefined }),
    ...describeTime(step, now, state === 'pending' || state === 'skipped'),
    worth: STATE_STYLES[state].worth,
  }
}

function getStepText(step: StepModel, state: StepModel['state']): string | undefined {
  if (state === 'running' || state === 'waiting') return step.last
  if (state === 'failed' || state === 'interrupted') return getStepError(step) ?? step.last
  return undefined
}

// The record says again which step it was.
function getStepError({ key, error }: StepModel): string | undefined {
  const before = `${key} failed: `
  return error?.startsWith(before) ? error.slice(before.length) : error
}

function createQuestionRows(
  { run_id, state }: RunModel,
  question: RunModel['questions'][number]['question'],
  depth: number,
  several: boolean,
  { look, answersHere, asking }: TreeOptions,
): readonly TreeRow[] {
  if (isFinished(state) || (answersHere && asking)) return []
  const asks: TreeRow = {
    depth,
    icon: { text: look.glyphs.waiting, role: 'warn' },
    notes: [{ text: toQuestionText(question) }],
    worth: 'problem',
  }
  return answersHere
    ? [asks]
    : [
        asks,
        {
          depth,
          notes: [
            { text: '  ' },
            { text: toAnswerCommand(run_id, question, several), role: 'accent' },
          ],
          worth: 'problem',
        },
      ]
}

function createTailRows(
  tail: LogTail | undefined,
  depth: number,
  { glyphs }: Theme,
): readonly TreeRow[] {
  if (!tail) return []
  const lines = tail.lines.map((line): TreeRow => ({
    depth,
    icon: { text: glyphs.rule, role: 'dim' },
    notes: [{ text: line, role: 'dim' }],
    worth: 'log',
  }))
  return tail.path === undefined
    ? lines
    : [
        ...lines,
        {
          depth,
          notes: [
            { text: 'log:', role: 'dim' },
            { text: tail.path, path: true },
          ],
          worth: 'fact',
        },
      ]
}

function describeSilence(
  { state, heard, grace_s }: RunModel,
  now: number,
): Pick<TreeRow, 'remark'> {
  const silent = heard === undefined ? 0 : now - heard
  if (state !== 'running' || silent < SILENT_MS) return {}
  const ago = formatDuration(Math.floor(silent / 1000))
  return {
    remark: {
      text: `last heard ${ago} ago`,
      short: `heard ${ago} ago`,
      role: grace_s !== undefined && silent > grace_s * 500 ? 'warn' : 'dim',
    },
  }
}

function describeTime(
  span: { readonly began?: number; readonly ended?: number } | undefined,
  now: number,
  none: boolean,
): { readonly time?: string } {
  if (none || span?.began === undefined) return {}
  return {
    time:
      span.ended === undefined
        ? formatDuration(Math.max(0, Math.floor((now - span.began) / 1000)))
        : formatDuration(Math.max(0, span.ended - span.began) / 1000),
  }
}
