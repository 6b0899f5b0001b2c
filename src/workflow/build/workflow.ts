import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { checkName, checkOptions } from '../../define/names.ts'
import type { LazySchema } from '../../define/schema/schema.ts'
import type { InputOf, OutputOf } from '../../define/types.ts'
import type { Workflow } from '../definition/workflow-type.ts'
import type { WorkflowBuilder } from './builder-type.ts'
import { withAuthor } from './author.ts'
import type { Author } from './author.ts'
import type { BuiltWorkflow, BuiltWorkflowOptions } from './built-type.ts'
import type { ValueOf } from './ref-type.ts'

const OPTIONS = [
  'name',
  'version',
  'summary',
  'description',
  'input',
  'timeout',
] as const satisfies readonly (keyof BuiltWorkflowOptions)[]

type GivenFor<Input> = Input extends LazySchema
  ? InputOf<Input>
  : { readonly [field: string]: unknown }
type KnownFor<Input> = Input extends LazySchema
  ? OutputOf<Input>
  : { readonly [field: string]: unknown }
type ResultFor<Output> = [Output] extends [void] ? unknown : ValueOf<Output>

/** A workflow in TypeScript: `write` adds the steps and gives what the workflow gives, or nothing for the result of its last step. It is called when somebody needs the definition, and nothing runs in it. Throws CONFIG for options that make no sense. */
export function workflow<const Input extends LazySchema | undefined = undefined, Output = void>(
  options: BuiltWorkflowOptions<Input>,
  write: (w: WorkflowBuilder<KnownFor<Input>>) => Output,
): BuiltWorkflow<GivenFor<Input>, ResultFor<Output>> {
  if (!isObject(options) || typeof write !== 'function')
    throw new ToolError(
      'CONFIG',
      "workflow() takes what it is about and a function that adds its steps: workflow({ name: 'tidy' }, (w) => { ... })",
    )
  checkName('workflow', options.name)
  const { name, summary } = options
  checkOptions(`workflow '${name}'`, options, OPTIONS)
  const author: Author = { options, write: write as unknown as Author['write'] }
  let made: Promise<Workflow> | undefined
  return withAuthor(author, {
    name,
    ...(summary !== undefined && { summary }),
    definition: () =>
      (made ??= import('./write-workflow.ts').then(({ writeWorkflow }) => writeWorkflow(author))),
  })
}
