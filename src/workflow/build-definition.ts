/**
 * Turns what the author of a workflow wrote into a checked definition. Loaded when the definition
 * is first needed.
 */

import { compileSchema } from '../define/schema/compile.ts'
import { classifySchema, resolveSchema } from '../define/schema/source.ts'
import type { LazySchema } from '../define/schema/source.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact, isObject } from '../util/values.ts'
import type { JsonObject, JsonSchema } from '../util/values.ts'
import { createRef, withFrame } from './builder-refs.ts'
import type { BuilderFrame, WrittenStep } from './builder-refs.ts'
import { collectSteps, createStepsBuilder, isBuiltStep, rejectPromise, toData } from './builder.ts'
import type { Workflow } from './definition/model.ts'
import { normalizeAndCheckWorkflow } from './definition/parse-workflow.ts'
import { getAuthor, isBuiltWorkflow } from './workflow-types.ts'
import type { WorkflowAuthor, WorkflowBuilder } from './workflow-types.ts'

/**
 * Has a function write a workflow, and gives it as data. Throws CONFIG: at once for what means
 * nothing where it stands, with every problem for the rest.
 */
export async function buildDefinition(author: WorkflowAuthor): Promise<Workflow> {
  return normalizeAndCheckWorkflow(toPlainData(author, collectWorkflow))
}

function collectWorkflow({ options, write }: WorkflowAuthor): WrittenWorkflow {
  const frame: BuilderFrame = {
    workflow: options.name,
    parent: undefined,
    what: `the steps of workflow '${options.name}'`,
    steps: [],
    items: [],
  }
  let last: readonly WrittenStep[] | undefined
  const builder: WorkflowBuilder = {
    ...createStepsBuilder(frame),
    input: createRef('input', frame),
    workflow: createRef('workflow', frame),
    finally(writeLast) {
      if (last)
        throw new ToolError(
          'CONFIG',
          `workflow '${options.name}' has two lists of steps for its end`,
          { suggestion: 'Call w.finally once' },
        )
      last = collectSteps(
        {
          workflow: options.name,
          parent: frame,
          what: `the last steps of workflow '${options.name}'`,
          steps: [],
          items: [],
        },
        writeLast,
      )
    },
  }
  return withFrame(frame, () => {
    const made = write(builder)
    rejectPromise(made, frame)
    const output = isBuiltStep(made) ? made.result : made
    return {
      ...options,
      steps: frame.steps,
      ...compact({
        finally: last,
        output: output !== undefined ? toData(output, 'what the workflow gives') : undefined,
      }),
    }
  })
}

/** A workflow as it was written; schemas in it are not data yet. */
type WrittenWorkflow = {
  readonly name: string
  readonly input?: LazySchema | undefined
  readonly steps: readonly WrittenStep[]
  readonly finally?: readonly WrittenStep[]
  readonly [key: string]: unknown
}

/**
 * A workflow with nothing but data in it: schemas of libraries as JSON Schema, workflows in it
 * written out. Throws CONFIG for what is no usable schema, and for workflows that contain each
 * other.
 */
function toPlainData(
  author: WorkflowAuthor,
  write: (author: WorkflowAuthor) => WrittenWorkflow,
  around: readonly WorkflowAuthor[] = [],
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
      ...compact({
        schema: schema !== undefined ? toJsonSchema(schema as LazySchema, 'output') : undefined,
        answer:
          isObject(answer) && answer['schema'] !== undefined
            ? { ...answer, schema: toJsonSchema(answer['schema'] as LazySchema, 'output') }
            : undefined,
        workflow: isBuiltWorkflow(workflow)
          ? toPlainData(getAuthor(workflow), write, chain)
          : undefined,
        tasks: Array.isArray(tasks) ? plain(tasks) : undefined,
        do: Array.isArray(rounds) ? plain(rounds) : undefined,
        compensate: Array.isArray(compensate) ? plain(compensate) : undefined,
      }),
    }
  }
  return {
    ...about,
    ...compact({ input: input !== undefined ? toJsonSchema(input, 'input') : undefined }),
    steps: plain(steps),
    ...compact({ finally: last ? plain(last) : undefined }),
  }
}

// Plain JSON Schema stays as it was written.
function toJsonSchema(lazy: LazySchema, direction: 'input' | 'output'): JsonSchema {
  const source = resolveSchema(lazy)
  const read = classifySchema(source)
  return 'plain' in read ? read.plain : compileSchema(source, direction).json
}
