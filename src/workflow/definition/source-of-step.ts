import type { KeyPath } from '../../contract/documents/document.ts'
import type { Source } from './finding.ts'
import type { Step } from './workflow-type.ts'

/** Where a step was written. */
export type StepSource = {
  readonly source: Source
  readonly path: KeyPath
  /** It is only a text: what it holds has no keys of its own. */ readonly bare?: true
}

const sources = new WeakMap<Step, StepSource>()
const questions = new WeakMap<object, KeyPath>()

/** Keeps where a step was written, beside it: a definition is sent and hashed, and its file is no part of it. */
export function rememberSource(step: Step, source: StepSource): void {
  sources.set(step, source)
}

/** Where a step was written; undefined for one that came as data. */
export function sourceOfStep(step: Step): StepSource | undefined {
  return sources.get(step)
}

/** Keeps where the question of a wait was written, which may stand in `wait` or beside `type`. */
export function rememberQuestion(question: object, path: KeyPath): void {
  questions.set(question, path)
}

/** Where the question of a wait was written; undefined for one that came as data. */
export function pathOfQuestion(question: object): KeyPath | undefined {
  return questions.get(question)
}
