import { isObject } from '../../contract/json.ts'
import type { JsonObject, JsonSchema } from '../../contract/json.ts'
import { compileSchema } from '../../define/schema/compile.ts'
import type { LazySchema } from '../../define/schema/schema.ts'
import { readSource, resolveSchema } from '../../define/schema/source.ts'
import type { BuiltWorkflow } from './built-type.ts'
import type { WrittenStep } from './frames.ts'
import { isBuiltWorkflow } from './workflow.ts'
import type { WrittenWorkflow } from './workflow.ts'

/** A workflow with nothing but data in it: schemas of libraries as JSON Schema, workflows written out. Throws CONFIG for what is no usable schema. */
export async function toPlainData({ input, steps, finally: last, ...about }: WrittenWorkflow): Promise<JsonObject> {
  return {
    ...about,
    ...(input !== undefined && { input: jsonOf(input, 'input') }),
    steps: await plainSteps(steps),
    ...(last && { finally: await plainSteps(last) }),
  }
}

function plainSteps(steps: readonly (WrittenStep | string)[]): Promise<readonly unknown[]> {
  return Promise.all(steps.map((step) => (typeof step === 'string' ? step : plainStep(step))))
}

async function plainStep(step: WrittenStep): Promise<JsonObject> {
  const { schema, answer, workflow, tasks, do: rounds, compensate } = step
  return {
    ...step,
    ...(schema !== undefined && { schema: jsonOf(schema as LazySchema, 'output') }),
    ...(isObject(answer) && answer['schema'] !== undefined && { answer: { ...answer, schema: jsonOf(answer['schema'] as LazySchema, 'output') } }),
    ...(isBuiltWorkflow(workflow) && { workflow: await (workflow as BuiltWorkflow).definition() }),
    ...(Array.isArray(tasks) && { tasks: await plainSteps(tasks) }),
    ...(Array.isArray(rounds) && { do: await plainSteps(rounds) }),
    ...(Array.isArray(compensate) && { compensate: await plainSteps(compensate) }),
  }
}

// Plain JSON Schema stays as it was written.
function jsonOf(lazy: LazySchema, direction: 'input' | 'output'): JsonSchema {
  const source = resolveSchema(lazy)
  const read = readSource(source)
  return 'plain' in read ? read.plain : compileSchema(source, direction).json
}
