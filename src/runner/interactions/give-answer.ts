import { mkdirSync } from 'node:fs'
import { checkAnswer } from '../../call/check-answer.ts'
import { createExclusively } from '../../call/exclusive-file.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { RunPaths } from '../folder/run-paths.ts'
import { answerFile, whoseAnswer, writeAnswer } from './answer-file.ts'
import type { AnswerWords } from './answer-file.ts'
import { compileAsked } from '../../call/compile-asked.ts'
import type { Question } from './read-question.ts'

/** Writes the answer to a question where whoever performs the run looks for it; only the first can. Gives it as it was understood. Throws INVALID_INPUT for one that does not fit, CONFLICT, and who was first, where there is one already. */
export async function giveAnswer(
  paths: RunPaths,
  question: Question,
  given: unknown,
  words: AnswerWords = {},
): Promise<unknown> {
  const checked = await checkAnswer(question, await compileAsked(question), given)
  if (!checked.ok)
    throw new ToolError('INVALID_INPUT', `the answer to '${question.prompt}' ${checked.problem}`, {
      field: 'value',
    })
  mkdirSync(paths.answers, { recursive: true, mode: 0o700 })
  const file = answerFile(paths.answers, question.id)
  if (createExclusively(file, writeAnswer(checked.value, words))) return checked.value
  const first = whoseAnswer(file)
  throw new ToolError(
    'CONFLICT',
    `the question '${question.id}' has an answer already${first === undefined ? '' : `: ${first} was first`}`,
    { suggestion: `toolable runs show ${paths.id}` },
  )
}
