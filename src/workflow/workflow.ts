/**
 * Workflows: definitions in YAML, JSON or TypeScript that are executed durably.
 *
 * This file has the public function `workflow()`, and workflows.ts has `workflows()`; both load
 * their
 * implementation on first use. Read the rest in this
 * order: definition/model.ts (what a definition is), definition/load.ts and
 * definition/parse-workflow.ts (from text to a checked
 * definition), steps/table.ts (the step kinds), interpreter.ts and scheduler.ts (executing steps on
 * an engine), engine.ts (what an engine
 * does), embedded/ (the engine that needs only a folder), restate/ (the engine for many machines),
 * perform-tool.ts (running the tool
 * of a step), workflow-run.ts (a workflow as a run of the runner), host.ts (the implementation of
 * `workflows()`).
 */

import { checkName, checkOptions } from '../define/checks.ts'
import type { LazySchema } from '../define/schema/source.ts'
import type { InputOf, OutputOf } from '../define/tool-types.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact, isObject } from '../util/values.ts'
import type { RefValue } from './builder-refs.ts'
import type { Workflow } from './definition/model.ts'
import type {
  BuiltWorkflow,
  BuiltWorkflowOptions,
  WorkflowAuthor,
  WorkflowBuilder,
} from './workflow-types.ts'
import { brandWorkflow } from './workflow-types.ts'

const WORKFLOW_OPTIONS = [
  'name',
  'version',
  'summary',
  'description',
  'input',
  'timeout',
] as const satisfies readonly (keyof BuiltWorkflowOptions)[]

type WorkflowInputFor<Input> = Input extends LazySchema
  ? InputOf<Input>
  : { readonly [field: string]: unknown }
type KnownInputFor<Input> = Input extends LazySchema
  ? OutputOf<Input>
  : { readonly [field: string]: unknown }
type WorkflowResultFor<Output> = [Output] extends [void] ? unknown : RefValue<Output>

/**
 * A workflow in TypeScript: `write` adds the steps and returns the result of the workflow, or
 * nothing for the result of its last step. It is called when the definition is needed, and nothing
 * runs in it. Throws CONFIG for invalid options.
 */
export function workflow<const Input extends LazySchema | undefined = undefined, Output = void>(
  options: BuiltWorkflowOptions<Input>,
  write: (w: WorkflowBuilder<KnownInputFor<Input>>) => Output,
): BuiltWorkflow<WorkflowInputFor<Input>, WorkflowResultFor<Output>> {
  if (!isObject(options) || typeof write !== 'function')
    throw new ToolError(
      'CONFIG',
      "workflow() takes what it is about and a function that adds its steps: workflow({ name: 'tidy' }, (w) => { ... })",
    )
  checkName('workflow', options.name)
  const { name, summary } = options
  checkOptions(`workflow '${name}'`, options, WORKFLOW_OPTIONS)
  const author: WorkflowAuthor = { options, write: write as unknown as WorkflowAuthor['write'] }
  let made: Promise<Workflow> | undefined
  return brandWorkflow(
    author,
    compact({
      name,
      summary,
      definition: () =>
        (made ??= import('./builder.ts').then(({ buildDefinition }) => buildDefinition(author))),
    }),
  )
}
