import { isObject } from '../json.ts'
import type { ErrorObject, PartialSummary } from '../outcome.ts'

/** The counts of a partly successful call: as given, else counted as the specification does, by the first list of the result. */
export function readSummary(
  summary: unknown,
  errors: readonly ErrorObject[],
  result: unknown,
): PartialSummary {
  const given = isObject(summary) ? summary : {}
  const failed = count(given.failed) ?? errors.length
  const succeeded = count(given.succeeded) ?? firstList(result)?.length ?? 0
  return {
    total: count(given.total) ?? succeeded + failed,
    succeeded,
    failed,
    recoverable_failures:
      count(given.recoverable_failures) ?? errors.filter(({ recoverable }) => recoverable).length,
  }
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

function firstList(result: unknown): readonly unknown[] | undefined {
  if (Array.isArray(result)) return result
  return isObject(result)
    ? (Object.values(result).find(Array.isArray) as readonly unknown[] | undefined)
    : undefined
}
