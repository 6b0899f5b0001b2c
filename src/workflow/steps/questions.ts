/**
 * What the two asking step kinds, `ai_decision` and `wait`, share: options and asking a question.
 */

import { createHash } from 'node:crypto'
import type { KeyPath } from '../../protocol/documents.ts'
import type { InteractionOption } from '../../protocol/events.ts'
import { isObject } from '../../util/values.ts'
import { describeValue } from '../definition/reader.ts'
import type { DefinitionReader, ExpressionUse } from '../definition/reader.ts'
import type { WorkflowQuestion } from '../engine.ts'
import { interpolate, toInterpolatedText } from '../expressions.ts'
import type { ExpressionScope } from '../expressions.ts'
import { runOperation, runWithTimeout, StepFailedError } from './flow.ts'
import type { Flow } from './flow.ts'

const MAX_QUESTION_ID_LENGTH = 100

/** Asks a question, and gives the answer; when its time is over, its default where it has one. */
export function* askQuestion(path: string, question: Omit<WorkflowQuestion, 'id'>): Flow<unknown> {
  const asked = runOperation({
    kind: 'answer',
    key: path,
    question: { id: getQuestionId(path), ...question },
  })
  try {
    const { value } = yield* question.timeout === undefined
      ? asked
      : runWithTimeout(`${path}~timeout`, question.timeout, asked)
    return value
  } catch (thrown) {
    if (
      question.default !== undefined &&
      thrown instanceof StepFailedError &&
      thrown.error.code === 'TIMEOUT'
    )
      return question.default
    throw thrown
  }
}

/** The id of the question that stands at a path: a word that is a file's name as well. */
export function getQuestionId(path: string): string {
  // No name has these characters, so that two places never have one id.
  const id = path.replaceAll('/', '.').replace(/[#~]/g, ':')
  // Cut, two of them could become one.
  return id.length <= MAX_QUESTION_ID_LENGTH && !id.startsWith('.')
    ? id
    : `q.${createHash('sha256').update(path).digest('hex').slice(0, 32)}`
}

/** The choices of a question with their values put in; each part of a choice is a text. */
export function interpolateOptions(
  options: readonly InteractionOption[],
  scope: ExpressionScope,
): readonly InteractionOption[] {
  return options.map(
    (option) =>
      Object.fromEntries(
        Object.entries(option).map(([key, text]) => [
          key,
          toInterpolatedText(interpolate(text, scope)),
        ]),
      ) as InteractionOption,
  )
}

const OPTION_KEYS = ['value', 'label', 'description']

/** The choices of a question, a text being its value. */
export function parseOptions(
  reader: DefinitionReader,
  value: unknown,
  path: KeyPath,
): { readonly options: readonly InteractionOption[]; readonly uses: readonly ExpressionUse[] } {
  if (!Array.isArray(value)) {
    reader.addProblem(path, `'options' must be a list; got ${describeValue(value)}`)
    return { options: [], uses: [] }
  }
  const read = value.map((option: unknown, index) => parseOption(reader, option, [...path, index]))
  return {
    options: read.flatMap(({ option }) => option ?? []),
    uses: read.flatMap(({ uses }) => uses),
  }
}

function parseOption(
  reader: DefinitionReader,
  given: unknown,
  path: KeyPath,
): { readonly option?: InteractionOption; readonly uses: readonly ExpressionUse[] } {
  const option = typeof given === 'string' ? { value: given } : given
  if (!isObject(option)) {
    reader.addProblem(path, `an option must be a text or an object; got ${describeValue(given)}`)
    return { uses: [] }
  }
  reader.checkKeys(option, OPTION_KEYS, path, 'an option')
  for (const key of OPTION_KEYS) {
    if (
      (key === 'value' || option[key] !== undefined) &&
      (typeof option[key] !== 'string' || (key === 'value' && option[key] === ''))
    )
      reader.addProblem(
        [...path, key],
        `'${key}' of an option must be a text; got ${describeValue(option[key])}`,
      )
  }
  const { value, uses } = reader.value(option, path)
  return { option: value as InteractionOption, uses }
}
