import type { JsonSchema } from '../../../../src/contract/json.ts'
import type { Problem } from '../../../../src/views/model/form/problems.ts'

/** Where a field stands, and how it tells its value. */
export type Place = {
  readonly schema: unknown
  /** The document that references point into. */
  readonly root: JsonSchema
  readonly name: string
  readonly required: boolean
  readonly value: unknown
  onChange(value: unknown): void
  readonly problems: readonly Problem[]
  /** Tells of a text that cannot be read as a value, or can again. */
  mark(id: string, unreadable: boolean): void
  readonly depth: number
  /** The name is said, not shown: what is around it shows it. */
  readonly hidesName?: boolean
}
