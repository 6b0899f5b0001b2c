import type { NestedStep } from '../../definition/workflow-type.ts'
import { fill } from '../../expressions/fill.ts'
import { succeed } from '../frame.ts'
import type { StepKind } from '../frame.ts'

/** Another workflow, in the place of a step. What it did is taken back when the one around it fails. */
export const nested: StepKind<NestedStep> = {
  retries: false,
  timed: true,
  *take({ workflow, input }, { frame, scope }, path) {
    return succeed(
      yield* frame.walk.workflow(workflow, input === undefined ? {} : fill(input, scope), {
        context: frame.context,
        path,
        outer: frame.undo,
      }),
    )
  },
}
