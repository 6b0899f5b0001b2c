import type { JsonObject } from '../../../contract/json.ts'
import type { DecisionStep } from '../../definition/workflow-type.ts'
import { fill } from '../../expressions/fill.ts'
import { succeed } from '../frame.ts'
import type { StepKind } from '../frame.ts'
import { ask } from './ask.ts'
import { fillOptions } from './fill-options.ts'

/** A decision of whoever supervises: a person, an agent, a policy. */
export const decision: StepKind<DecisionStep> = {
  retries: false,
  timed: false,
  *take(
    { decision_type, instruction, options, schema, default: preset, context, timeout },
    { scope },
    path,
  ) {
    const prompt = instruction === undefined ? decision_type : String(fill(instruction, scope))
    const answer = yield* ask(path, {
      kind: options ? 'decision' : 'input',
      action: decision_type,
      key: decision_type,
      prompt,
      ...(options && { options: fillOptions(options, scope) }),
      ...(schema && { schema }),
      ...(preset !== undefined && { default: fill(preset, scope) }),
      ...(context && { context: fill(context, scope) as JsonObject }),
      ...(timeout !== undefined && { timeout }),
    })
    return succeed(answer)
  },
}
