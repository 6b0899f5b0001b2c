import type { KeyPath } from '../../../contract/documents/document.ts'
import type { DefinitionReader } from '../definition-reader.ts'
import type { Draft, Part, Use } from '../draft.ts'
import type { Workflow } from '../workflow-type.ts'

/** A step as it was given. */
export type Given = { readonly [key: string]: unknown }

/** What the reader of a kind may ask for. */
export type KindContext = {
  readonly reader: DefinitionReader
  /** Reads steps inside the step; `role` says how they are named. */
  steps(value: unknown, path: KeyPath, role: 'steps' | 'tasks'): readonly Draft[]
  /** Reads another workflow: one that stands there, or the file that is named. */
  workflow(value: unknown, path: KeyPath): Workflow | undefined
}

/** What a kind makes of a step: its own fields, written out. Undefined fields: too much is wrong. */
export type KindRead = {
  readonly fields: object | undefined
  readonly uses?: readonly Use[]
  readonly inside?: readonly Part[]
}

/** Reads what one form of a step says besides what every step may say; its keys are known ones, and the required ones are there. */
export type ReadKind = (given: Given, path: KeyPath, context: KindContext) => KindRead
