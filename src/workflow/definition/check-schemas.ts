/**
 * Checks that the JSON Schemas in a workflow can be compiled. Apart because it loads the schema
 * compiler.
 */

import { compileSchema } from '../../define/schema/compile.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { isObject } from '../../util/values.ts'
import type { Workflow } from './model.ts'
import { getStepSource } from './reader.ts'
import type { DefinitionFinding, DefinitionSource } from './reader.ts'
import { walkSteps } from './walk.ts'

/** The schemas in a workflow that cannot be used, so that nobody finds out in the middle of it. */
export function findInvalidSchemas(
  workflow: Workflow,
  source: DefinitionSource,
): readonly DefinitionFinding[] {
  const own = workflow.input === undefined ? undefined : getSchemaProblem(workflow.input, 'input')
  return [
    ...(own === undefined ? [] : [{ source, path: ['input'], message: own }]),
    ...[...walkSteps(workflow)].flatMap(({ step }): readonly DefinitionFinding[] => {
      const place = getStepSource(step)
      const schema =
        step.type === 'ai_decision'
          ? step.schema
          : step.type === 'wait' && 'answer' in step
            ? step.answer.schema
            : step.type === 'workflow'
              ? step.workflow.input
              : undefined
      const message = isObject(schema)
        ? getSchemaProblem(schema, step.type === 'workflow' ? 'input' : 'output')
        : undefined
      return message === undefined || !place
        ? []
        : [{ source: place.source, path: place.path, message }]
    }),
  ]
}

function getSchemaProblem(schema: object, direction: 'input' | 'output'): string | undefined {
  try {
    void compileSchema(schema as never, direction).json
    return undefined
  } catch (error) {
    if (!ToolError.is(error)) throw error
    return `the schema cannot be used: ${error.message}`
  }
}
