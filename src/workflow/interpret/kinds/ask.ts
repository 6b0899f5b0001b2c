import { createHash } from 'node:crypto'
import type { WorkflowQuestion } from '../../engines/engine-type.ts'
import { act, StepFailure, within } from '../flow.ts'
import type { Flow } from '../flow.ts'

const LONGEST_ID = 100

/** Asks a question, and gives the answer; when its time is over, its default where it has one. */
export function* ask(path: string, question: Omit<WorkflowQuestion, 'id'>): Flow<unknown> {
  const asked = act({ kind: 'answer', key: path, question: { id: questionId(path), ...question } })
  try {
    const { value } = yield* question.timeout === undefined
      ? asked
      : within(`${path}~timeout`, question.timeout, asked)
    return value
  } catch (thrown) {
    if (
      question.default !== undefined &&
      thrown instanceof StepFailure &&
      thrown.error.code === 'TIMEOUT'
    )
      return question.default
    throw thrown
  }
}

/** The id of the question that stands at a path: a word that is a file's name as well. */
export function questionId(path: string): string {
  // No name has these characters, so that two places never have one id.
  const id = path.replaceAll('/', '.').replace(/[#~]/g, ':')
  // Cut, two of them could become one.
  return id.length <= LONGEST_ID && !id.startsWith('.')
    ? id
    : `q.${createHash('sha256').update(path).digest('hex').slice(0, 32)}`
}
