/** What stands on the global object of a built program before any of its modules runs. */
export type BuiltMark = {
  /** Every check of its definitions was made when it was built. */
  readonly verified: boolean
  /** It is one executable with node in it: the program that runs it is no node for others. */
  readonly single?: true
  /** Gets the program instead of running it: a build looks at it so. */
  readonly take?: (program: unknown) => Promise<void>
  /** Told when zod itself is loaded, in the place of which the program has records. */
  readonly onZod?: () => void
}

const MARK = Symbol.for('toolable.built')

/** The mark of the built program that this process runs; undefined for one that runs from its sources. */
export function builtMark(): BuiltMark | undefined {
  return (globalThis as { [MARK]?: BuiltMark })[MARK]
}

/** True in a built program for the definitions of the modules in it: modules that it loads from elsewhere have a copy of this package of their own, and nobody has checked theirs. */
export function isVerified(): boolean {
  return (import.meta as { readonly built?: true }).built === true && builtMark()?.verified === true
}

/** Marks this process as a built program; for whoever loads one. */
export function setBuiltMark(mark: BuiltMark): void {
  ;(globalThis as { [MARK]?: BuiltMark })[MARK] = mark
}
