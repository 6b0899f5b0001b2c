/**
 * The step kind `parallel`: runs several steps concurrently; the result is the list of their
 * results.
 */

import type { ParallelStep } from '../definition/model.ts'
import { createGroupRecord, runAll } from './flow.ts'
import type { StepKind } from './flow.ts'

/** Several steps at the same time; gives the list of their results. */
export const parallelStep: StepKind<ParallelStep> = {
  retriesByDefault: false,
  enforceTimeout: true,
  *run({ tasks, max_concurrency, on_error }, at, path) {
    const inside = { ...at, path }
    const endings = yield* runAll(
      tasks.map((task) => at.frame.walk.step(task, inside)),
      { limit: max_concurrency, stopEarly: on_error !== 'continue' },
    )
    return createGroupRecord(endings, ({ result }) => result, on_error === 'continue')
  },
}
