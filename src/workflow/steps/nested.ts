/**
 * The step kind `workflow`: runs another workflow as a step. Its compensations run when the
 * workflow around it fails.
 */

import { compact } from '../../util/values.ts'
import type { CommonStep, Workflow } from '../definition/model.ts'
import { anyShape } from '../definition/schema.ts'
import { listExpressions } from '../expression-parser.ts'
import { interpolate } from '../expressions.ts'
import { createOkRecord } from './flow.ts'
import type { StepKind } from './kind.ts'
import { toPlanText } from './kind.ts'

/** Runs the steps of another workflow, with an input of its own. */
export type NestedStep = CommonStep & {
  readonly type: 'workflow'
  /** Written out: the file that was named has been read. */
  readonly workflow: Workflow
  readonly input?: unknown
}

declare module '../definition/model.ts' {
  interface StepTypes {
    readonly workflow: NestedStep
  }
}

export const nestedStep: StepKind<NestedStep> = {
  forms: [
    {
      // workflow: ./other.yaml
      mark: 'workflow',
      keys: {
        workflow: anyShape(
          { anyOf: [{ type: 'string', minLength: 1 }, { $ref: '#' }] },
          'Another workflow: its file, or the workflow itself',
        ),
        input: anyShape({}, 'Its input'),
      },
      parse(given, { reader, workflow }) {
        const nested = workflow(given['workflow'], reader.at('workflow'))
        const input = reader.field(given, 'input')
        return nested && { fields: compact({ workflow: nested, input }) }
      },
    },
  ],
  *run({ workflow, input }, { frame, scope }, path) {
    const given = input === undefined ? {} : interpolate(input, scope)
    const result = yield* frame.runner.workflow(workflow, given, {
      context: frame.context,
      path,
      outerCompensations: frame.compensations,
    })
    return createOkRecord(result)
  },
  label: ({ workflow }) => `workflow ${workflow.name}`,
  plan: ({ workflow, input }) => compact({ workflow: workflow.name, input }),
  describe: ({ workflow = '', input }) =>
    `the workflow ${workflow}${input === undefined ? '' : ` ${toPlanText(input)}`}`,
  expressions: ({ input }) => listExpressions(input),
  children: ({ workflow: { steps, finally: last = [] } }) => [
    { steps, path: ['workflow', 'steps'], key: '/' },
    { steps: last, path: ['workflow', 'finally'], key: '/finally/' },
  ],
  hasOwnInput: true,
  nestedInput: ({ workflow: { input: schema, name }, input = {} }) =>
    schema && { input, schema, name },
  canRunInline: () => true,
}
