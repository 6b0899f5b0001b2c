import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { checkAnswer } from '../../call/check-answer.ts'
import { createExclusively } from '../../call/exclusive-file.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { RunPaths } from '../folder/run-paths.ts'
import { compileAsked } from './compile-asked.ts'
import type { Question } from './read-question.ts'

/** Writes the answer to a question where whoever performs the run looks for it; only the first can. Gives it as it was understood. Throws INVALID_INPUT for one that does not fit, CONFLICT where there is one already. */
export async function giveAnswer(paths: RunPaths, question: Question, given: unknown): Promise<unknown> {
  const checked = await checkAnswer(question, await compileAsked(question), given)
  if (!checked.ok) throw new ToolError('INVALID_INPUT', `the answer to '${question.prompt}' ${checked.problem}`, { field: 'value' })
  mkdirSync(paths.answers, { recursive: true, mode: 0o700 })
  if (createExclusively(join(paths.answers, `${question.id}.json`), `${JSON.stringify({ value: checked.value })}\n`)) return checked.value
  throw new ToolError('CONFLICT', `the question '${question.id}' has an answer already`, { suggestion: `toolable runs show ${paths.id}` })
}
