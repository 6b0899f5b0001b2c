import { isOver } from '../../../contract/run-state.ts'
import type { RunModel, StepModel } from '../../model/run-model/run-model-type.ts'
import type { Look } from '../look.ts'
import { formatDuration } from '../../model/format/duration.ts'
import { answerCommand, askingStep, openQuestions, questionText } from './questions.ts'
import type { Row } from './row.ts'
import { iconOf, STATES, wordOf } from './states.ts'

/** The end of a log, and where the whole of it is. */
export type Tail = { readonly lines: readonly string[]; readonly path?: string }

/** What a tree says besides the model. */
export type TreeOptions = {
  readonly look: Look
  /** Milliseconds. */
  readonly now: number
  readonly tick: number
  /** Questions are answered here; elsewhere the tree says how. */
  readonly answersHere: boolean
  /** Somebody is asked below the tree at this moment. */
  readonly asking: boolean
  /** Several runs are shown: each says its id. */
  readonly named: boolean
  /** Logs of what failed, by the path of the step; that of the run itself is ''. */
  readonly tails: ReadonlyMap<string, Tail>
}

/** Silence that is worth a word. */
const SILENT_MS = 2000

/** The tree of a run: the run, then its steps. What is done is one line, what failed is open. */
export function runRows(model: RunModel, options: TreeOptions): readonly Row[] {
  const asked = openQuestions(model).map((question) => ({
    question,
    step: askingStep(model.steps, question),
  }))
  const folded = new Set<string>()
  const steps = model.steps.flatMap((step) => {
    const inside = step.parent !== undefined && folded.has(step.parent)
    if (inside || step.state === 'ok' || step.state === 'skipped') folded.add(step.key)
    if (inside) return []
    const questions = asked.filter((one) => one.step === step).map(({ question }) => question)
    return [
      stepRow(step, questions.length > 0, options),
      ...questions.flatMap((question) =>
        questionRows(model, question, step.depth + 2, asked.length > 1, options),
      ),
      ...(step.state === 'failed' || step.state === 'interrupted'
        ? tailRows(options.tails.get(step.key), step.depth + 2, options.look)
        : []),
    ]
  })
  const more: readonly Row[] =
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
    .flatMap(({ question }) => questionRows(model, question, 1, asked.length > 1, options))
  return [
    headRow(model, options),
    ...steps,
    ...more,
    ...own,
    ...(model.state === 'failed' ? tailRows(options.tails.get(''), 1, options.look) : []),
  ]
}

function headRow(model: RunModel, options: TreeOptions): Row {
  const { state, attempt, attempts, progress, error, steps } = model
  const last = attempts.at(-1)
  const over = isOver(state)
  const running = steps.some(
    (step) =>
      step.state === 'running' && step.last !== undefined && step.last === progress?.message,
  )
  const said = over || running ? undefined : (progress?.message ?? lastLine(model))
  const retry =
    over && last?.retry_in_s !== undefined
      ? `next attempt in ${formatDuration(last.retry_in_s)}`
      : undefined
  return {
    depth: 0,
    icon: iconOf(state, options.look, options.tick),
    name: { text: model.tool, role: 'accent' },
    notes: [
      ...(options.named ? [{ text: model.run_id, role: 'dim' } as const] : []),
      ...wordOf(state),
      ...(state === 'failed' && error ? [{ text: error.code, role: 'bad' } as const] : []),
      ...(attempt > 1 ? [{ text: `attempt ${attempt}`, role: 'dim' } as const] : []),
      ...(retry === undefined ? [] : [{ text: retry, role: 'warn' } as const]),
      ...(said === undefined ? [] : [{ text: said }]),
    ],
    ...silence(model, options.now),
    ...(!over && progress?.percent !== undefined && { percent: progress.percent }),
    ...timeOf(last, options.now, state === 'queued'),
    worth: 'head',
  }
}

// Signs of life and what the runner says are no words of the tool; nor is the level of a line.
function lastLine({ steps, last }: RunModel): string | undefined {
  return steps.length === 0 && last?.type === 'log'
    ? last.text.replace(/^(?:debug|info|warn|warning|error) /, '')
    : undefined
}

function stepRow(step: StepModel, asks: boolean, { look, now, tick }: TreeOptions): Row {
  const state =
    asks && (step.state === 'running' || step.state === 'pending') ? 'waiting' : step.state
  const going = state === 'running' || state === 'waiting'
  const said = going
    ? step.last
    : state === 'failed' || state === 'interrupted'
      ? (errorOf(step) ?? step.last)
      : undefined
  return {
    depth: step.depth + 1,
    icon: iconOf(state, look, tick),
    name: { text: step.name },
    notes: [
      ...wordOf(state),
      ...(step.tries > 1 ? [{ text: `try ${step.tries}`, role: 'dim' } as const] : []),
      ...(said === undefined || asks
        ? []
        : [{ text: said, role: state === 'failed' ? 'bad' : 'dim' } as const]),
    ],
    ...(state === 'running' && step.percent !== undefined && { percent: step.percent }),
    ...timeOf(step, now, state === 'pending' || state === 'skipped'),
    worth: STATES[state].worth,
  }
}

// The record says again which step it was.
function errorOf({ key, error }: StepModel): string | undefined {
  const before = `${key} failed: `
  return error?.startsWith(before) ? error.slice(before.length) : error
}

function questionRows(
  { run_id, state }: RunModel,
  question: RunModel['questions'][number]['question'],
  depth: number,
  several: boolean,
  { look, answersHere, asking }: TreeOptions,
): readonly Row[] {
  if (isOver(state) || (answersHere && asking)) return []
  const asks: Row = {
    depth,
    icon: { text: look.glyphs.waiting, role: 'warn' },
    notes: [{ text: questionText(question) }],
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
            { text: answerCommand(run_id, question, several), role: 'accent' },
          ],
          worth: 'problem',
        },
      ]
}

function tailRows(tail: Tail | undefined, depth: number, { glyphs }: Look): readonly Row[] {
  if (!tail) return []
  const lines = tail.lines.map((line): Row => ({
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

function silence({ state, heard, grace_s }: RunModel, now: number): Pick<Row, 'remark'> {
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

function timeOf(
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
