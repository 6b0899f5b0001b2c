import type { ErrorObject } from '../contract/outcome.ts'

const brand = Symbol.for('toolable.reply')

/** A result with something to say about it. Told from ordinary objects by its brand, never by its fields. */
export type Reply<Result = unknown> = {
  readonly [brand]: true
  readonly result: Result
  readonly message?: string
  readonly hidden?: boolean
  readonly errors?: readonly PartialError[]
  /** Where in the result the succeeded items are. */
  readonly key?: string
}

/** An error inside a partial result: what was caught, or the fields of an error. */
export type PartialError = Error | (Partial<ErrorObject> & { readonly code: string; readonly message: string })

/** A result with a text for the model; `hidden` keeps the value itself out of the model's view. */
export function ok<Result>(result: Result, { message, hidden }: { readonly message?: string; readonly hidden?: boolean } = {}): Reply<Result> {
  return { [brand]: true, result, ...(message !== undefined && { message }), ...(hidden !== undefined && { hidden }) }
}

/** A result of which some items failed. Succeeded items are counted in `result[key]`, or in the first list in it. */
export function partial<Result>(result: Result, errors: readonly PartialError[], key?: string): Reply<Result> {
  return { [brand]: true, result, errors, ...(key !== undefined && { key }) }
}

/** True for what `ok` and `partial` give. */
export function isReply(value: unknown): value is Reply {
  return typeof value === 'object' && value !== null && (value as { [brand]?: unknown })[brand] === true
}
