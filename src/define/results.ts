import { ToolError } from '../contract/tool-error.ts'
import type { ErrorObject, PartialSummary } from '../contract/outcome.ts'
import { isObject } from '../contract/json.ts'

const brand = Symbol.for('toolable.reply')

/** A result with something to say about it. Told from ordinary objects by its brand, never by its fields. */
export type Reply<Result = unknown> = {
  readonly [brand]: true
  readonly result: Result
  readonly message?: string
  readonly hidden?: boolean
  readonly errors?: readonly ErrorObject[]
  readonly summary?: PartialSummary
}

/** An error inside a partial result: a ToolError, or its fields. */
export type PartialError = ToolError | (Partial<ErrorObject> & { readonly code: string; readonly message: string })

/** A result with a text for the model; `hidden` keeps the value itself out of the model's view. */
export function ok<Result>(result: Result, options: { readonly message?: string; readonly hidden?: boolean } = {}): Reply<Result> {
  return { [brand]: true, result, ...options }
}

/** A result of which some items failed. Succeeded items are counted in `result[key]`, or in the first list in it. */
export function partial<Result>(result: Result, errors: readonly PartialError[], key?: string): Reply<Result> {
  const objects = errors.map(toErrorObject)
  const succeeded = countItems(result, key)
  return {
    [brand]: true,
    result,
    errors: objects,
    summary: {
      total: succeeded + objects.length,
      succeeded,
      failed: objects.length,
      recoverable_failures: objects.filter((error) => error.recoverable).length,
    },
  }
}

/** True for what `ok` and `partial` give. */
export function isReply(value: unknown): value is Reply {
  return typeof value === 'object' && value !== null && (value as { [brand]?: unknown })[brand] === true
}

function toErrorObject(error: PartialError): ErrorObject {
  return ToolError.is(error) ? error.toObject() : new ToolError(error.code, error.message, error).toObject()
}

function countItems(result: unknown, key: string | undefined): number {
  if (key !== undefined) {
    const list = isObject(result) && Object.hasOwn(result, key) ? result[key] : undefined
    return Array.isArray(list) ? list.length : 0
  }
  if (Array.isArray(result)) return result.length
  const list = isObject(result) ? Object.values(result).find(Array.isArray) : undefined
  return list?.length ?? 0
}
