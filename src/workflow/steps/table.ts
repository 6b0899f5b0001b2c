/**
 * The step kinds of workflows, in one table.
 *
 * Each kind is one file in this folder with everything that is particular to it: kind.ts says what
 * that is, and flow.ts what run functions are made of. CONTRIBUTING.md has the recipe for a new one.
 */

import type { JsonSchema } from '../../util/values.ts'
import type { StepType, StepTypes, WorkflowStep } from '../definition/model.ts'
import { COMMON_STEP_KEYS, toObjectSchema, WORKFLOW_KEYS } from '../definition/schema.ts'
import { decisionStep } from './decision.ts'
import { eachStep } from './each.ts'
import type { StepForm, StepKind } from './kind.ts'
import { nestedStep } from './nested.ts'
import { parallelStep } from './parallel.ts'
import { toolStep } from './tool.ts'
import { waitStep } from './wait.ts'

// Exported from here, the type includes what each kind adds to it.
export type { WorkflowStep } from '../definition/model.ts'

/** Every kind of step, by the value of `type`. */
export const STEP_KINDS = {
  tool: toolStep,
  ai_decision: decisionStep,
  parallel: parallelStep,
  each: eachStep,
  wait: waitStep,
  workflow: nestedStep,
} as const satisfies { readonly [Type in StepType]: StepKind<StepTypes[Type]> }

export function getStepKind({ type }: Pick<WorkflowStep, 'type'>): StepKind {
  return STEP_KINDS[type]
}

/** Whether steps of this type, the value of `type`, may ask a question. */
export function canAsk(type: string | undefined): boolean {
  return Object.entries<StepKind>(STEP_KINDS).some(
    ([known, { question }]) => known === type && question !== undefined,
  )
}

/** Every way to write a step. */
export const STEP_FORMS: readonly (Required<StepForm> & { readonly type: StepType })[] =
  Object.entries(STEP_KINDS).flatMap(([type, { forms }]) =>
    forms.map((form) => ({ required: [form.mark], ...form, type: type as StepType })),
  )

/** The keys of written steps under which steps inside are found. */
export const CHILD_KEYS: readonly string[] = Object.values<StepKind>(STEP_KINDS).flatMap(
  ({ childKeys = [] }) => childKeys,
)

/**
 * The JSON Schema of a workflow as people write it, for editors. Only the parser checks expressions
 * and unique names.
 */
export function createWorkflowSchema(): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'toolable workflow',
    description: 'Steps that toolable takes in their order, and goes on with after a crash',
    ...toObjectSchema(WORKFLOW_KEYS, ['steps']),
    $defs: {
      step: {
        anyOf: [
          {
            type: 'string',
            minLength: 1,
            description: 'A tool and its arguments as they are typed',
          },
          ...STEP_FORMS.map(({ type, keys, required }) => {
            const { type: anyType } = COMMON_STEP_KEYS
            const thisType = { ...anyType!, schema: { ...anyType!.schema, const: type } }
            return toObjectSchema({ ...COMMON_STEP_KEYS, type: thisType, ...keys }, required)
          }),
        ],
      },
    },
  }
}
