import type { DeclaredError } from '../contract/errors.ts'
import { isObject } from '../contract/json.ts'
import type { ErrorObject, PartialSummary } from '../contract/outcome.ts'
import { ToolError } from '../contract/tool-error.ts'
import type { PartialError, Reply } from '../define/results.ts'
import { describeFailure } from './describe-failure.ts'

/** What failed in a partial result, and the counts. */
export type Failures = { readonly errors: readonly ErrorObject[]; readonly summary: PartialSummary }

/** Reads the failures of a reply; undefined when nothing failed. */
export function readFailures(
  { result, errors = [], key, foreign }: Reply,
  declared: { readonly [code: string]: DeclaredError },
): Failures | undefined {
  if (errors.length === 0) return undefined
  const objects = errors.map((error) => describeFailure(toThrown(error), declared).object)
  const succeeded = countItems(result, key)
  return {
    errors: objects,
    summary: foreign?.summary ?? {
      total: succeeded + objects.length,
      succeeded,
      failed: objects.length,
      recoverable_failures: objects.filter((error) => error.recoverable).length,
    },
  }
}

/** The one error of a reply in which nothing succeeded. */
export function summariseFailures([first, ...more]: readonly ErrorObject[]): ErrorObject {
  return more.length === 0
    ? first!
    : { ...first!, message: `all ${more.length + 1} items failed; the first: ${first!.message}` }
}

function toThrown(error: PartialError): unknown {
  return error instanceof Error || ToolError.is(error)
    ? error
    : new ToolError(error.code, error.message, error)
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
