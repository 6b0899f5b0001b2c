/**
 * How a run is worded: its states, its questions, and its last lines (saved files, error, hint, and
 * what to do next).
 */

import type { RunState } from '../../protocol/run-state.ts'
import { isFinished } from '../../protocol/run-state.ts'
import { pluralize, quoteForShell } from '../../util/text.ts'
import { formatBytes } from '../model/format-bytes.ts'
import { formatDuration } from '../model/format.ts'
import type { RunModel, StepModel, StepState } from '../model/run-model.ts'
import { listOpenQuestions } from '../model/run-model.ts'
import type { OpenQuestion } from '../model/run-summary.ts'
import type { RowPriority, TextPiece } from './rows.ts'
import type { Theme, ThemeRole } from './theme.ts'

type StateStyle = {
  readonly role: ThemeRole
  readonly word: string
  readonly worth: RowPriority
  readonly icon: (look: Theme, tick: number) => string
}

const getSpinnerFrame = ({ glyphs: { spinner } }: Theme, tick: number): string =>
  spinner[tick % spinner.length]!
const RUNNING_STYLE: StateStyle = { role: 'run', word: '', worth: 'live', icon: getSpinnerFrame }
const WAITING_STYLE: StateStyle = {
  role: 'warn',
  word: 'waiting',
  worth: 'problem',
  icon: ({ glyphs }) => glyphs.waiting,
}
const FAILED_STYLE: StateStyle = {
  role: 'bad',
  word: 'failed',
  worth: 'problem',
  icon: ({ glyphs }) => glyphs.bad,
}
const CANCELLED_STYLE: StateStyle = {
  role: 'warn',
  word: 'cancelled',
  worth: 'done',
  icon: ({ glyphs }) => glyphs.cancelled,
}

/**
 * How each state is shown: a symbol, a colour and a word that say the same. What runs needs no
 * word: it moves.
 */
export const STATE_STYLES: { readonly [state in StepState | RunState]: StateStyle } = {
  queued: { role: 'dim', word: 'queued', worth: 'later', icon: ({ glyphs }) => glyphs.pending },
  pending: { role: 'dim', word: 'not begun', worth: 'later', icon: ({ glyphs }) => glyphs.pending },
  running: RUNNING_STYLE,
  waiting: WAITING_STYLE,
  waiting_ai: WAITING_STYLE,
  ok: { role: 'ok', word: 'done', worth: 'done', icon: ({ glyphs }) => glyphs.ok },
  completed: { role: 'ok', word: 'completed', worth: 'done', icon: ({ glyphs }) => glyphs.ok },
  failed: FAILED_STYLE,
  skipped: { role: 'dim', word: 'skipped', worth: 'later', icon: ({ glyphs }) => glyphs.skipped },
  cancelled: CANCELLED_STYLE,
  interrupted: { ...FAILED_STYLE, role: 'warn', word: 'interrupted' },
}

/** The symbol of a state. */
export function getStateIcon(state: StepState | RunState, look: Theme, tick: number): TextPiece {
  const { icon, role } = STATE_STYLES[state]
  return { text: icon(look, tick), role }
}

/** The word of a state; nothing where it goes without saying. */
export function getStateWord(state: StepState | RunState): readonly TextPiece[] {
  const { word, role } = STATE_STYLES[state]
  return word === '' ? [] : [{ text: word, role: role === 'ok' ? 'dim' : role }]
}

const MAX_OPTIONS = 20

/** A question in one line: `Publish 12 pages? (yes | no)`. */
export function toQuestionText({ prompt = '', kind, options }: OpenQuestion): string {
  const confirm = kind === 'confirm' ? ['yes', 'no'] : []
  const values = Array.isArray(options) ? options.slice(0, MAX_OPTIONS).map(toOptionText) : confirm
  return values.length === 0 ? prompt : `${prompt} (${values.join(' | ')})`
}

/**
 * The command that answers a question from elsewhere; ready to paste where the answers are known.
 * Which question is meant has to be said only where there are several.
 */
export function toAnswerCommand(
  run: string,
  { id, kind, options }: OpenQuestion,
  several: boolean,
): string {
  const first: unknown = Array.isArray(options) ? options[0] : undefined
  const example = first === undefined ? '<value>' : quoteForShell(toOptionText(first))
  const value = kind === 'confirm' ? 'true' : example
  return `toolable answer ${run} ${value}${several ? ` --question ${quoteForShell(id)}` : ''}`
}

/**
 * The step that asks: a decision has the name of its step, and a question of a tool begins with it.
 */
export function findAskingStep(
  steps: readonly StepModel[],
  { id }: OpenQuestion,
): StepModel | undefined {
  const isIts = (key: string): boolean => id === key || id.startsWith(`${key}.`)
  return steps
    .filter(({ key }) => isIts(key.replaceAll('/', '.')))
    .sort((left, right) => right.key.length - left.key.length)[0]
}

function toOptionText(option: unknown): string {
  const value: unknown =
    typeof option === 'object' && option !== null && 'value' in option ? option.value : option
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** What is known of a run that is over, besides its model. */
type ClosingOptions = {
  readonly look: Theme
  /** Files that were kept, under paths that can be pasted. */
  readonly files: readonly { readonly path: string; readonly bytes?: number }[]
  /** The command that goes on with it. */
  readonly goOn?: string | undefined
  /** Where its log is. */
  readonly log?: string | undefined
  readonly quiet: boolean
}

const MAX_FILES = 10
const LABEL_WIDTH = 6

/**
 * The last lines of a run: what was saved or what went wrong, and at the very end what to do next.
 * They are as long as they are: commands have to be copied whole.
 */
export function renderClosing(
  model: RunModel,
  { look, files, goOn: resume, log, quiet }: ClosingOptions,
): readonly string[] {
  const { state, error } = model
  // A run that failed for lack of an answer says how to give it.
  const answer =
    state === 'failed' && error?.code === 'E_ANSWER_REQUIRED' && error.hint?.startsWith('toolable ')
      ? error.hint
      : undefined
  const goOn = answer ?? resume
  const fact = (word: string, text: string): string =>
    `${look.paint('dim', `${word}:`.padStart(LABEL_WIDTH))} ${look.clean(text)}`
  const saved = [
    ...files
      .slice(0, MAX_FILES)
      .map(({ path, bytes }) =>
        fact('saved', bytes === undefined ? path : `${path} (${formatBytes(bytes)})`),
      ),
    ...(files.length > MAX_FILES ? [fact('saved', `and ${files.length - MAX_FILES} more`)] : []),
  ]
  if (state === 'completed')
    return [...saved, ...(quiet ? [] : [renderLastLine(model, goOn, false, look)])]
  return [
    ...saved,
    ...(error && state === 'failed'
      ? [
          `${look.paint('bad', `error[${look.clean(error.code)}]`)} ${look.clean(error.message ?? '')}`.trimEnd(),
        ]
      : []),
    ...(error?.hint !== undefined && error.hint !== goOn ? [fact('hint', error.hint)] : []),
    ...(log !== undefined && state === 'failed' && answer === undefined ? [fact('log', log)] : []),
    renderLastLine(model, goOn, answer !== undefined, look),
  ]
}

function renderLastLine(
  model: RunModel,
  goOn: string | undefined,
  unanswered: boolean,
  look: Theme,
): string {
  const { run_id, state, rc, artifacts, attempts } = model
  const { icon, role, word } = unanswered
    ? { ...STATE_STYLES.waiting, word: 'needs an answer' }
    : STATE_STYLES[state]
  const last = attempts.at(-1)
  const took =
    last?.ended === undefined
      ? ''
      : ` ${state === 'completed' ? 'in' : 'after'} ${formatDuration(Math.max(0, last.ended - last.began) / 1000)}`
  const facts = [
    look.paint(role, `${icon(look, 0)} ${word === '' ? state : word}${took}`),
    ...(state === 'failed' && rc !== undefined ? [`exit ${rc}`] : []),
    run_id,
    ...(artifacts > 0 ? [pluralize(artifacts, 'artifact')] : []),
    look.paint('accent', goOn ?? getNextCommand(model)),
  ]
  return facts.join(` ${look.paint('dim', look.glyphs.dot)} `)
}

function getNextCommand(model: RunModel): string {
  const { run_id, state } = model
  const [asked] = listOpenQuestions(model)
  if (asked) return toAnswerCommand(run_id, asked.question, false)
  return isFinished(state) ? `toolable runs show ${run_id}` : `toolable watch ${run_id}`
}
