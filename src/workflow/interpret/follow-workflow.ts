import type { Workflow } from '../definition/workflow-type.ts'
import type { StepError } from '../engines/engine-type.ts'
import { fill } from '../expressions/fill.ts'
import { errorOf } from './error-of.ts'
import { check, shield, StepFailure, Stopped } from './flow.ts'
import type { Flow } from './flow.ts'
import { pathOf } from './frame.ts'
import type { Around, Frame, Place, Walk } from './frame.ts'
import { takeStep, takeSteps } from './take-steps.ts'

/** Follows a workflow: its steps, what takes them back after a failure, and what is done at the end in any case. Throws StepFailure, or Stopped. */
export function* followWorkflow(
  workflow: Workflow,
  given: unknown,
  { context, path, outer }: Around,
): Flow<unknown> {
  const input = workflow.input ? yield* check(workflow.input, given) : given
  const frame: Frame = { workflow, context, undo: [], walk: WALK }
  const at: Place = {
    frame,
    path,
    scope: { input, steps: {}, workflow: { id: context.id, name: workflow.name }, items: {} },
  }
  let value: unknown
  try {
    const last = yield* takeSteps(workflow.steps, at)
    value = workflow.output === undefined ? last : fill(workflow.output, at.scope)
  } catch (thrown) {
    const error = errorOf(thrown)
    if (frame.undo.length > 0) context.tell?.({ type: 'compensating', error })
    const problems = yield* shield(cleanUp(workflow, at))
    const told =
      problems.length === 0
        ? error
        : { ...error, details: { ...error.details, cleanup: [...problemsOf(error), ...problems] } }
    throw thrown instanceof Stopped ? new Stopped(told) : new StepFailure(told)
  }
  outer?.push(...frame.undo)
  // A failure at the very end is the failure of the workflow; but what was done stays done, unless the one around it takes it back.
  if (workflow.finally) yield* shield(takeSteps(workflow.finally, atTheEnd(at)))
  return value
}

const WALK: Walk = { step: takeStep, steps: takeSteps, workflow: followWorkflow }

// The last that was done is taken back first. What cannot be taken back does not keep the others from it.
function* cleanUp({ finally: last = [] }: Workflow, at: Place): Flow<StepError[]> {
  const problems: StepError[] = []
  for (const { steps, at: where } of [...at.frame.undo].reverse()) {
    // What it gives stays with it: steps without a name of their own may be called like one that another compensation asks for.
    const scope = { ...where.scope, steps: { ...where.scope.steps } }
    problems.push(...(yield* tryAll(steps, { ...where, scope })))
  }
  problems.push(...(yield* tryAll(last, atTheEnd(at))))
  return problems
}

// A workflow inside this one may have had problems of its own.
function problemsOf({ details }: StepError): readonly unknown[] {
  return Array.isArray(details?.['cleanup']) ? details['cleanup'] : []
}

function atTheEnd(at: Place): Place {
  return { ...at, path: pathOf(at.path, 'finally') }
}

function* tryAll(steps: Workflow['steps'], at: Place): Flow<StepError[]> {
  try {
    yield* takeSteps(steps, at)
    return []
  } catch (thrown) {
    return [errorOf(thrown)]
  }
}
