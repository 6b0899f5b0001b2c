import type { JsonSchema } from './json.ts'

/** What was found out about a schema of a library when the program was built. */
export type Prepared = {
  /** Its JSON Schema as the library itself writes it. */
  readonly json: JsonSchema
  /** The JSON Schema says everything: what fits it is valid, and its value is the input with defaults, in the order of the fields. */
  readonly exact: boolean
}

/** Where a schema that stands for one of a library keeps what is known about it. */
export const PREPARED = Symbol.for('toolable.prepared')

/** True for a schema that need not be built before somebody uses it. */
export function isPrepared(source: unknown): boolean {
  return typeof source === 'object' && source !== null && PREPARED in source
}

/** What is known about a schema without asking its library; undefined where only the library can tell. */
export function readPrepared(source: unknown): Prepared | undefined {
  return isPrepared(source)
    ? (source as { [PREPARED]: () => Prepared | undefined })[PREPARED]()
    : undefined
}
