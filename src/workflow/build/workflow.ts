import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { checkName, checkOptions } from '../../define/names.ts'
import type { LazySchema } from '../../define/schema/schema.ts'
import type { InputOf, OutputOf } from '../../define/types.ts'
import type { Workflow } from '../definition/workflow-type.ts'
import type { WorkflowBuilder } from './builder-type.ts'
import { refusePromise, stepsBuilder, writeSteps } from './builder.ts'
import { isBuiltStep } from './built-steps.ts'
import type { BuiltWorkflow, BuiltWorkflowOptions } from './built-type.ts'
import { inFrame } from './frames.ts'
import type { Frame, WrittenStep } from './frames.ts'
import { makeRef } from './ref.ts'
import type { ValueOf } from './ref-type.ts'
import { toData } from './to-data.ts'

const OPTIONS = ['name', 'version', 'summary', 'description', 'input', 'timeout'] as const satisfies readonly (keyof BuiltWorkflowOptions)[]
const brand = Symbol.for('toolable.workflow')

type GivenFor<Input> = Input extends LazySchema ? InputOf<Input> : { readonly [field: string]: unknown }
type KnownFor<Input> = Input extends LazySchema ? OutputOf<Input> : { readonly [field: string]: unknown }
type ResultFor<Output> = [Output] extends [void] ? unknown : ValueOf<Output>

/** A workflow as it was written; schemas in it are not data yet. */
export type WrittenWorkflow = { readonly name: string; readonly input?: LazySchema | undefined; readonly steps: readonly WrittenStep[]; readonly finally?: readonly WrittenStep[]; readonly [key: string]: unknown }

/** Writes a workflow in TypeScript: `write` adds the steps and gives what the workflow gives, or nothing for the result of its last step. Nothing runs. Throws CONFIG for references that mean nothing where they are used. */
export function workflow<const Input extends LazySchema | undefined = undefined, Output = void>(options: BuiltWorkflowOptions<Input>, write: (w: WorkflowBuilder<KnownFor<Input>>) => Output): BuiltWorkflow<GivenFor<Input>, ResultFor<Output>> {
  if (!isObject(options) || typeof write !== 'function') throw new ToolError('CONFIG', "workflow() takes what it is about and a function that adds its steps: workflow({ name: 'tidy' }, (w) => { ... })")
  checkName('workflow', options.name)
  const { name, summary } = options
  checkOptions(`workflow '${name}'`, options, OPTIONS)
  const written = writeWorkflow(options, write as unknown as (w: WorkflowBuilder) => unknown)
  let made: Promise<Workflow> | undefined
  return {
    name,
    ...(summary !== undefined && { summary }),
    definition: () => (made ??= import('./make-definition.ts').then(({ makeDefinition }) => makeDefinition(written))),
    ...{ [brand]: written },
  }
}

/** True for what `workflow()` gives, also from another copy of this package. */
export function isBuiltWorkflow(value: unknown): value is BuiltWorkflow {
  return isObject(value) && isObject((value as { [brand]?: unknown })[brand]) && typeof value['definition'] === 'function'
}

function writeWorkflow(options: BuiltWorkflowOptions, write: (w: WorkflowBuilder) => unknown): WrittenWorkflow {
  const frame: Frame = { workflow: options.name, parent: undefined, what: `the steps of workflow '${options.name}'`, steps: [], items: [] }
  let last: readonly WrittenStep[] | undefined
  const builder: WorkflowBuilder = {
    ...stepsBuilder(frame),
    input: makeRef('input', frame),
    workflow: makeRef('workflow', frame),
    finally(writeLast) {
      if (last) throw new ToolError('CONFIG', `workflow '${options.name}' has two lists of steps for its end`, { suggestion: 'Call w.finally once' })
      last = writeSteps({ workflow: options.name, parent: frame, what: `the last steps of workflow '${options.name}'`, steps: [], items: [] }, writeLast)
    },
  }
  return inFrame(frame, () => {
    const made = write(builder)
    refusePromise(made, frame)
    const output = isBuiltStep(made) ? made.result : made
    return { ...options, steps: frame.steps, ...(last && { finally: last }), ...(output !== undefined && { output: toData(output, 'what the workflow gives') }) }
  })
}
