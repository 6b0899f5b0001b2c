import { createHash } from 'node:crypto'
import type { WorkflowQuestion } from '../../engines/engine-type.ts'
import { act } from '../flow.ts'
import type { Flow } from '../flow.ts'

const LONGEST_ID = 100

/** Asks a question, and gives the answer. */
export function* ask(path: string, question: Omit<WorkflowQuestion, 'id'>): Flow<unknown> {
  const { value } = yield* act({ kind: 'answer', key: path, question: { id: questionId(path), ...question } })
  return value
}

/** The id of the question that stands at a path: a word that is a file's name as well. */
export function questionId(path: string): string {
  const id = path.replace(/[^\w-]/g, '.')
  // Cut, two of them could become one.
  return id.length <= LONGEST_ID && !id.startsWith('.') ? id : `q.${createHash('sha256').update(path).digest('hex').slice(0, 32)}`
}
