import { isOver } from '../../contract/run-state.ts'
import { formatBytes } from '../model/format/bytes.ts'
import { formatDuration } from '../model/format/duration.ts'
import type { RunModel } from '../model/run-model/run-model-type.ts'
import type { Look } from './look.ts'
import { answerCommand, openQuestions } from './layout/questions.ts'
import { STATES } from './layout/states.ts'

/** What is known of a run that is over, besides its model. */
export type Closing = {
  readonly look: Look
  /** Files that were kept, under paths that can be pasted. */
  readonly files: readonly { readonly path: string; readonly bytes?: number }[]
  /** The command that goes on with it. */
  readonly goOn?: string | undefined
  /** Where its log is. */
  readonly log?: string | undefined
  readonly quiet: boolean
}

const MOST_FILES = 10
const WORD = 6

/** The last lines of a run: what was saved or what went wrong, and at the very end what to do next. They are as long as they are: commands have to be copied whole. */
export function closingLines(
  model: RunModel,
  { look, files, goOn: resume, log, quiet }: Closing,
): readonly string[] {
  const { state, error } = model
  // Whoever could not answer is told how to.
  const answer =
    state === 'failed' && error?.code === 'E_ANSWER_REQUIRED' && error.hint?.startsWith('toolable ')
      ? error.hint
      : undefined
  const goOn = answer ?? resume
  const fact = (word: string, text: string): string =>
    `${look.paint('dim', `${word}:`.padStart(WORD))} ${look.clean(text)}`
  const saved = [
    ...files
      .slice(0, MOST_FILES)
      .map(({ path, bytes }) =>
        fact('saved', bytes === undefined ? path : `${path} (${formatBytes(bytes)})`),
      ),
    ...(files.length > MOST_FILES ? [fact('saved', `and ${files.length - MOST_FILES} more`)] : []),
  ]
  if (state === 'completed')
    return [...saved, ...(quiet ? [] : [lastLine(model, goOn, false, look)])]
  return [
    ...saved,
    ...(error && state === 'failed'
      ? [
          `${look.paint('bad', `error[${look.clean(error.code)}]`)} ${look.clean(error.message ?? '')}`.trimEnd(),
        ]
      : []),
    ...(error?.hint !== undefined && error.hint !== goOn ? [fact('hint', error.hint)] : []),
    ...(log !== undefined && state === 'failed' && answer === undefined ? [fact('log', log)] : []),
    lastLine(model, goOn, answer !== undefined, look),
  ]
}

function lastLine(
  model: RunModel,
  goOn: string | undefined,
  unanswered: boolean,
  look: Look,
): string {
  const { run_id, state, rc, artifacts, attempts } = model
  const { icon, role, word } = unanswered
    ? { ...STATES.waiting, word: 'needs an answer' }
    : STATES[state]
  const last = attempts.at(-1)
  const took =
    last?.ended === undefined
      ? undefined
      : formatDuration(Math.max(0, last.ended - last.began) / 1000)
  const [asked] = openQuestions(model)
  const facts = [
    look.paint(
      role,
      `${icon(look, 0)} ${word === '' ? state : word}${took === undefined ? '' : state === 'completed' ? ` in ${took}` : ` after ${took}`}`,
    ),
    ...(state === 'failed' && rc !== undefined ? [`exit ${rc}`] : []),
    run_id,
    ...(artifacts > 0 ? [`${artifacts} ${artifacts === 1 ? 'artifact' : 'artifacts'}`] : []),
    look.paint(
      'accent',
      goOn ??
        (asked
          ? answerCommand(run_id, asked, false)
          : isOver(state)
            ? `toolable runs show ${run_id}`
            : `toolable watch ${run_id}`),
    ),
  ]
  return facts.join(` ${look.paint('dim', look.glyphs.dot)} `)
}
