/**
 * What a built program knows about itself: the mark that its launcher sets on the global object,
 * and the schemas that the build prepared so that their library need not be loaded.
 */

import type { JsonSchema } from '../util/values.ts'

/** What stands on the global object of a built program before any of its modules runs. */
export type BuiltProgramMark = {
  /** Every check of its definitions was made when it was built. */
  readonly verified: boolean
  /** It is one executable with node in it: the program that runs it is no node for others. */
  readonly single?: true
  /** Gets the program instead of running it: a build looks at it so. */
  readonly take?: (program: unknown) => Promise<void>
  /** Told when zod itself is loaded, in the place of which the program has records. */
  readonly onZod?: () => void
}

const BUILT_PROGRAM = Symbol.for('toolable.built')

/**
 * The mark of the built program that this process runs; undefined for one that runs from its
 * sources.
 */
export function getBuiltProgramMark(): BuiltProgramMark | undefined {
  return (globalThis as { [BUILT_PROGRAM]?: BuiltProgramMark })[BUILT_PROGRAM]
}

/**
 * True in a built program for the definitions of the modules in it: modules that it loads from
 * elsewhere have a copy of this package of their own, and nobody has checked theirs.
 */
export function isVerifiedBuild(): boolean {
  return (
    (import.meta as { readonly built?: true }).built === true &&
    getBuiltProgramMark()?.verified === true
  )
}

/** Marks this process as a built program; for whoever loads one. */
export function setBuiltProgramMark(mark: BuiltProgramMark): void {
  ;(globalThis as { [BUILT_PROGRAM]?: BuiltProgramMark })[BUILT_PROGRAM] = mark
}

/** What was found out about a schema of a library when the program was built. */
export type PreparedSchema = {
  /** Its JSON Schema as the library itself writes it. */
  readonly json: JsonSchema
  /**
   * The JSON Schema says everything: what fits it is valid, and its value is the input with
   * defaults, in the order of the fields.
   */
  readonly exact: boolean
}

/** Where a schema that stands for one of a library keeps what is known about it. */
export const PREPARED_SCHEMA = Symbol.for('toolable.prepared')

/** True for a schema that need not be built before somebody uses it. */
export function isPreparedSchema(source: unknown): boolean {
  return typeof source === 'object' && source !== null && PREPARED_SCHEMA in source
}

/**
 * What is known about a schema without asking its library; undefined where only the library can
 * tell.
 */
export function readPreparedSchema(source: unknown): PreparedSchema | undefined {
  return isPreparedSchema(source)
    ? (source as { [PREPARED_SCHEMA]: () => PreparedSchema | undefined })[PREPARED_SCHEMA]()
    : undefined
}
