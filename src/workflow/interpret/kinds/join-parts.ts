import type { StepRecord } from '../../expressions/scope-type.ts'
import { Stopped, StepFailure } from '../flow.ts'
import type { Ended } from '../flow.ts'
import { succeed } from '../frame.ts'
import { errorOf } from '../error-of.ts'

/** The record of a step from the endings of its parts. A failure is that of the whole, unless the step goes on: then the result of what failed is null. */
export function joinParts<Part>(
  endings: readonly (Ended<Part> | undefined)[],
  resultOf: (part: Part) => unknown,
  goesOn: boolean,
): StepRecord {
  const failed = endings.filter(
    (ended): ended is Ended<Part> & { ok: false } => ended?.ok === false,
  )
  // What was stopped because of another failure is not the reason.
  const reason = failed.find(({ thrown }) => !(thrown instanceof Stopped)) ?? failed[0]
  const results = endings.map((ended) => (ended?.ok ? resultOf(ended.value) : null))
  if (!reason) return succeed(results)
  if (!goesOn)
    throw reason.thrown instanceof Stopped ? new StepFailure(reason.thrown.error) : reason.thrown
  const errors = endings.map((ended) => (ended?.ok === false ? errorOf(ended.thrown) : null))
  return { status: 'failed', result: results, error: errorOf(reason.thrown), errors }
}
