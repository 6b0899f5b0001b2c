import { isObject } from '../../contract/json.ts'
import type { JsonObject, JsonSchema } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { compileSchema } from '../../define/schema/compile.ts'
import type { LazySchema } from '../../define/schema/schema.ts'
import { readSource, resolveSchema } from '../../define/schema/source.ts'
import { authorOf, isBuiltWorkflow } from './author.ts'
import type { Author } from './author.ts'
import type { WrittenStep } from './frames.ts'

/** A workflow as it was written; schemas in it are not data yet. */
export type WrittenWorkflow = {
  readonly name: string
  readonly input?: LazySchema | undefined
  readonly steps: readonly WrittenStep[]
  readonly finally?: readonly WrittenStep[]
  readonly [key: string]: unknown
}

/** A workflow with nothing but data in it: schemas of libraries as JSON Schema, workflows in it written out. Throws CONFIG for what is no usable schema, and for workflows that contain each other. */
export function toPlainData(
  author: Author,
  write: (author: Author) => WrittenWorkflow,
  around: readonly Author[] = [],
): JsonObject {
  const chain = [...around, author]
  if (around.includes(author))
    throw new ToolError(
      'CONFIG',
      `workflows contain each other: ${chain.map(({ options: { name } }) => name).join(' in ')}`,
      { suggestion: 'Take one of them out, or run it as a tool, by its name' },
    )
  const { input, steps, finally: last, ...about } = write(author)
  const plain = (list: readonly (WrittenStep | string)[]): readonly unknown[] =>
    list.map((step) => (typeof step === 'string' ? step : plainStep(step)))
  const plainStep = (step: WrittenStep): JsonObject => {
    const { schema, answer, workflow, tasks, do: rounds, compensate } = step
    return {
      ...step,
      ...(schema !== undefined && { schema: jsonOf(schema as LazySchema, 'output') }),
      ...(isObject(answer) &&
        answer['schema'] !== undefined && {
          answer: { ...answer, schema: jsonOf(answer['schema'] as LazySchema, 'output') },
        }),
      ...(isBuiltWorkflow(workflow) && { workflow: toPlainData(authorOf(workflow), write, chain) }),
      ...(Array.isArray(tasks) && { tasks: plain(tasks) }),
      ...(Array.isArray(rounds) && { do: plain(rounds) }),
      ...(Array.isArray(compensate) && { compensate: plain(compensate) }),
    }
  }
  return {
    ...about,
    ...(input !== undefined && { input: jsonOf(input, 'input') }),
    steps: plain(steps),
    ...(last && { finally: plain(last) }),
  }
}

// Plain JSON Schema stays as it was written.
function jsonOf(lazy: LazySchema, direction: 'input' | 'output'): JsonSchema {
  const source = resolveSchema(lazy)
  const read = readSource(source)
  return 'plain' in read ? read.plain : compileSchema(source, direction).json
}
