import type { ParallelStep } from '../../definition/workflow-type.ts'
import { all } from '../flow.ts'
import type { StepKind } from '../frame.ts'
import { joinParts } from './join-parts.ts'

/** Several steps at the same time; gives the list of their results. */
export const parallel: StepKind<ParallelStep> = {
  retries: false,
  timed: true,
  *take({ tasks, max_concurrency, on_error }, at, path) {
    const inside = { ...at, path }
    const endings = yield* all(
      tasks.map((task) => at.frame.walk.step(task, inside)),
      { limit: max_concurrency, stopEarly: on_error !== 'continue' },
    )
    return joinParts(endings, ({ result }) => result, on_error === 'continue')
  },
}
