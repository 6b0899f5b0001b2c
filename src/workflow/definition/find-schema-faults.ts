import { ToolError } from '../../contract/tool-error.ts'
import { isObject } from '../../contract/json.ts'
import { compileSchema } from '../../define/schema/compile.ts'
import type { Finding, Source } from './finding.ts'
import { sourceOfStep } from './source-of-step.ts'
import { walkSteps } from './walk-steps.ts'
import type { Workflow } from './workflow-type.ts'

/** The schemas in a workflow that cannot be used, so that nobody finds out in the middle of it. */
export function findSchemaFaults(workflow: Workflow, source: Source): readonly Finding[] {
  const own = workflow.input === undefined ? undefined : faultOf(workflow.input, 'input')
  return [
    ...(own === undefined ? [] : [{ source, path: ['input'], message: own }]),
    ...[...walkSteps(workflow)].flatMap(({ step }): readonly Finding[] => {
      const place = sourceOfStep(step)
      const schema =
        step.type === 'ai_decision'
          ? step.schema
          : step.type === 'wait' && 'answer' in step
            ? step.answer.schema
            : step.type === 'workflow'
              ? step.workflow.input
              : undefined
      const message = isObject(schema)
        ? faultOf(schema, step.type === 'workflow' ? 'input' : 'output')
        : undefined
      return message === undefined || !place
        ? []
        : [{ source: place.source, path: place.path, message }]
    }),
  ]
}

function faultOf(schema: object, direction: 'input' | 'output'): string | undefined {
  try {
    void compileSchema(schema as never, direction).json
    return undefined
  } catch (error) {
    if (!ToolError.is(error)) throw error
    return `the schema cannot be used: ${error.message}`
  }
}
