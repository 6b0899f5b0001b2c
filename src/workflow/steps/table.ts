/**
 * The step kinds of workflows, in one table.
 *
 * Each kind has a file beside this one with its parser and its run function. steps/flow.ts says
 * what a kind is made of. See CONTRIBUTING.md for how
 * to add one.
 */

import { toConfigSchema } from '../../protocol/config-schema.ts'
import type { ConfigShape } from '../../protocol/config-shape.ts'
import type { JsonSchema } from '../../util/values.ts'
import type { StepType, WorkflowStep } from '../definition/model.ts'
import { COMMON_STEP_KEYS, STEP_FORMS, WORKFLOW_KEYS } from '../definition/schema.ts'
import { decisionStep, parseDecisionStep } from './decision.ts'
import { eachStep, parseEachLongForm, parseEachStep, parseParallelStep } from './each.ts'
import type { ParseStep, StepKind } from './flow.ts'
import { nestedStep, parseNestedStep } from './nested.ts'
import { parallelStep } from './parallel.ts'
import { parseCommandStep, parseToolStep, toolStep } from './tool.ts'
import { createWaitParser, parseWaitStep, waitStep } from './wait.ts'

/** How each form of a step is read, by the key that marks it. */
export const STEP_PARSERS: { readonly [mark: string]: ParseStep } = {
  command: parseCommandStep,
  tool: parseToolStep,
  decision_type: parseDecisionStep,
  tasks: parseParallelStep,
  each: parseEachStep,
  items: parseEachLongForm,
  wait: parseWaitStep,
  for: createWaitParser('for'),
  until: createWaitParser('until'),
  answer: createWaitParser('answer'),
  workflow: parseNestedStep,
}

/** Every kind of step, by the word that names it. */
export const STEP_KINDS: {
  readonly [Type in StepType]: StepKind<WorkflowStep & { readonly type: Type }>
} = {
  tool: toolStep,
  ai_decision: decisionStep,
  parallel: parallelStep,
  each: eachStep,
  wait: waitStep,
  workflow: nestedStep,
}

/**
 * The JSON Schema of a workflow as people write it, for editors: from the table that the reader
 * follows. What expressions ask for, and names that are there twice, only the reader can judge.
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
          ...STEP_FORMS.map(({ type, keys, required }) =>
            toObjectSchema(
              {
                ...COMMON_STEP_KEYS,
                type: { is: 'text', schema: { ...COMMON_STEP_KEYS['type']!.schema, const: type } },
                ...keys,
              },
              required,
            ),
          ),
        ],
      },
    },
  }
}

function toObjectSchema(
  keys: { readonly [key: string]: ConfigShape },
  required: readonly string[],
): JsonSchema {
  return toConfigSchema({ is: 'object', keys, required })
}
