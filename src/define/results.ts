import type { ContentBlock } from '../contract/content.ts'
import type { ErrorObject, OutcomeMeta, PartialSummary } from '../contract/outcome.ts'

const brand = Symbol.for('toolable.reply')

/** A result with something to say about it. Told from ordinary objects by its brand, never by its fields. */
export type Reply<Result = unknown> = {
  readonly [brand]: true
  readonly result: Result
  readonly message?: string
  readonly hidden?: boolean
  readonly content?: ContentBlock | readonly ContentBlock[]
  readonly errors?: readonly PartialError[]
  /** Where in the result the succeeded items are. */
  readonly key?: string
  /** What somebody else's envelope said besides: it goes into ours as it is. */
  readonly foreign?: ForeignSaid
}

/** What the envelope of a tool in another process says besides its result. */
export type ForeignSaid = Pick<OutcomeMeta, 'warnings' | 'truncated' | 'next_cursor' | 'run_id'> & {
  /** Counted by the tool itself. */ readonly summary?: PartialSummary
}

/** An error inside a partial result: what was caught, or the fields of an error. */
export type PartialError =
  Error | (Partial<ErrorObject> & { readonly code: string; readonly message: string })

/** What goes to the model with a result. */
export type ReplyOptions = {
  readonly message?: string
  /** Keeps the value itself out of the model's view. */
  readonly hidden?: boolean
  /** Pictures, sound, files and texts, made with `content`. */
  readonly content?: ContentBlock | readonly ContentBlock[]
}

/** A result with a text and other content for the model; `hidden` keeps the value itself out of the model's view. */
export function ok<Result>(result: Result, options: ReplyOptions = {}): Reply<Result> {
  return { [brand]: true, result, ...readOptions(options) }
}

/** A result of which some items failed. Succeeded items are counted in `result[key]`, or in the first list in it. */
export function partial<Result>(
  result: Result,
  errors: readonly PartialError[],
  options: string | (ReplyOptions & { readonly key?: string }) = {},
): Reply<Result> {
  const given: ReplyOptions & { readonly key?: string } =
    typeof options === 'string' ? { key: options } : options
  return {
    [brand]: true,
    result,
    ...readOptions(given),
    errors,
    ...(given.key !== undefined && { key: given.key }),
  }
}

/** A reply together with what somebody else's envelope said besides. */
export function withForeign<Result>(reply: Reply<Result>, foreign: ForeignSaid): Reply<Result> {
  return Object.keys(foreign).length === 0 ? reply : { ...reply, foreign }
}

/** True for what `ok` and `partial` give. */
export function isReply(value: unknown): value is Reply {
  return (
    typeof value === 'object' && value !== null && (value as { [brand]?: unknown })[brand] === true
  )
}

function readOptions({ message, hidden, content }: ReplyOptions): ReplyOptions {
  return {
    ...(message !== undefined && { message }),
    ...(hidden !== undefined && { hidden }),
    ...(content !== undefined && { content }),
  }
}
