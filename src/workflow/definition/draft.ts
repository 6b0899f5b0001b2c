import type { KeyPath } from '../../contract/documents/document.ts'
import type { PathExpression } from '../expressions/syntax.ts'
import type { Step } from './workflow-type.ts'

/** A text of a definition that holds expressions, and what they ask for. */
export type Use = { readonly path: KeyPath; readonly references: readonly PathExpression[] }

/** Steps inside a step. */
export type Part = {
  readonly drafts: readonly Draft[]
  /** They know nothing of each other. */
  readonly together: boolean
  /** The names that only they know. */
  readonly items: readonly string[]
}

/** A step while it is read: what it becomes, and what has to be known to check it. */
export type Draft = {
  readonly name: string
  readonly path: KeyPath
  /** Undefined where too much is wrong with it. */
  readonly step: Step | undefined
  readonly uses: readonly Use[]
  readonly inside: readonly Part[]
  readonly compensate: readonly Draft[]
}
