/**
 * The step kind `workflow`: runs another workflow as a step.
 */

import { compact } from '../../util/values.ts'
import type { NestedStep } from '../definition/model.ts'
import { interpolate } from '../expressions.ts'
import { createOkRecord } from './flow.ts'
import type { ParseStep, StepKind } from './flow.ts'

/** `workflow: ./other.yaml` */
export const parseNestedStep: ParseStep = (given, path, { reader, workflow }) => {
  const nested = workflow(given['workflow'], [...path, 'workflow'])
  const input =
    given['input'] === undefined ? undefined : reader.value(given['input'], [...path, 'input'])
  return {
    fields: nested && compact({ workflow: nested, input: input ? input.value : undefined }),
    uses: input?.uses ?? [],
  }
}

/**
 * Another workflow, in the place of a step. What it did is taken back when the one around it fails.
 */
export const nestedStep: StepKind<NestedStep> = {
  retriesByDefault: false,
  enforceTimeout: true,
  *run({ workflow, input }, { frame, scope }, path) {
    return createOkRecord(
      yield* frame.walk.workflow(workflow, input === undefined ? {} : interpolate(input, scope), {
        context: frame.context,
        path,
        outerCompensations: frame.compensations,
      }),
    )
  },
}
