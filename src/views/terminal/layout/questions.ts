import { quoteForShell } from '../../../contract/quote-for-shell.ts'
import type { OpenQuestion } from '../../model/summary/summary.ts'
import type { QuestionModel, RunModel, StepModel } from '../../model/run-model/run-model-type.ts'

const MOST_OPTIONS = 20

/** The questions that somebody has to answer. */
export function openQuestions({ questions }: Pick<RunModel, 'questions'>): readonly OpenQuestion[] {
  return questions
    .filter(({ answered, withdrawn }: QuestionModel) => !answered && !withdrawn)
    .map(({ question }) => question)
}

/** A question in one line: `Publish 12 pages? (yes | no)`. */
export function questionText({ prompt = '', kind, options }: OpenQuestion): string {
  const values = Array.isArray(options)
    ? options.slice(0, MOST_OPTIONS).map((option: unknown) => valueOf(option))
    : kind === 'confirm'
      ? ['yes', 'no']
      : []
  return values.length === 0 ? prompt : `${prompt} (${values.join(' | ')})`
}

/** The command that answers a question from elsewhere; ready to paste where the answers are known. Which question is meant has to be said only where there are several. */
export function answerCommand(
  run: string,
  { id, kind, options }: OpenQuestion,
  several: boolean,
): string {
  const first: unknown = Array.isArray(options) ? options[0] : undefined
  const value =
    kind === 'confirm' ? 'true' : first === undefined ? '<value>' : quoteForShell(valueOf(first))
  return `toolable answer ${run} ${value}${several ? ` --question ${quoteForShell(id)}` : ''}`
}

/** The step that asks: a decision has the name of its step, and a question of a tool begins with it. */
export function askingStep(
  steps: readonly StepModel[],
  { id }: OpenQuestion,
): StepModel | undefined {
  const isIts = (key: string): boolean => id === key || id.startsWith(`${key}.`)
  return steps
    .filter(({ key }) => isIts(key.replaceAll('/', '.')))
    .sort((left, right) => right.key.length - left.key.length)[0]
}

function valueOf(option: unknown): string {
  const value: unknown =
    typeof option === 'object' && option !== null && 'value' in option ? option.value : option
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
