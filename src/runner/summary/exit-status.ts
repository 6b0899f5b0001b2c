import { exitCodeOf, factsOf } from '../../contract/errors.ts'
import type { RunSummary } from '../../views/model/summary/summary.ts'

/** What a run means as an exit status: 0 when it completed, else that of the tool where it gave one, else that of what went wrong; never 0. */
export function exitStatusOf({
  state,
  rc,
  error,
}: Pick<RunSummary, 'state' | 'rc' | 'error'>): number {
  if (state === 'completed') return 0
  if (rc !== undefined && Number.isInteger(rc) && rc > 0 && rc < 256) return rc
  if (state === 'cancelled') return 130
  const status = error ? exitCodeOf({ code: error.code, ...factsOf(error.code) }) : 1
  return status === 0 ? 1 : status
}
