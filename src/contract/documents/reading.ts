/** Why a text is not what it should be, and where. */
export type ReadProblem = {
  readonly reason: string
  readonly message: string
  readonly fix: string
  /** From 1. */ readonly line?: number
}

/** What was read, or why it could not be. */
export type Reading<T> = { readonly value: T } | { readonly problem: ReadProblem }

/** A reading that failed. */
export function refuse(
  reason: string,
  message: string,
  fix: string,
  line?: number,
): { readonly problem: ReadProblem } {
  return { problem: { reason, message, fix, ...(line !== undefined && { line }) } }
}
