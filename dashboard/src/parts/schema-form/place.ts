import type { JsonSchema } from '../../../../src/util/values.ts'
import type { FormProblem } from '../../../../src/views/model/form-values.ts'

/** Where a field stands, and how it tells its value. */
export type Place = {
  readonly schema: unknown
  /** The document that references point into. */
  readonly root: JsonSchema
  readonly name: string
  readonly required: boolean
  readonly value: unknown
  onChange(value: unknown): void
  readonly problems: readonly FormProblem[]
  /** Tells of a text that cannot be read as a value, or can again. */
  mark(id: string, unreadable: boolean): void
  readonly depth: number
  /** The name is said, not shown: what is around it shows it. */
  readonly hidesName?: boolean
}
