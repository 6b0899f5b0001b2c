import { isObject } from '../../contract/json.ts'
import type { WorkflowBuilder } from './builder-type.ts'
import type { BuiltWorkflow, BuiltWorkflowOptions } from './built-type.ts'

const brand = Symbol.for('toolable.workflow')

/** What an author said about a workflow, and how he writes it. */
export type Author = {
  readonly options: BuiltWorkflowOptions
  readonly write: (w: WorkflowBuilder) => unknown
}

/** Lets a workflow remember who writes it. */
export function withAuthor<Input, Result>(
  author: Author,
  built: BuiltWorkflow<Input, Result>,
): BuiltWorkflow<Input, Result> {
  return Object.assign(built, { [brand]: author })
}

/** True for what `workflow()` gives, also from another copy of this package. */
export function isBuiltWorkflow(value: unknown): value is BuiltWorkflow {
  return (
    isObject(value) &&
    isObject((value as { [brand]?: unknown })[brand]) &&
    typeof value['definition'] === 'function'
  )
}

/** Who wrote a workflow. */
export function authorOf(built: BuiltWorkflow): Author {
  return (built as unknown as { [brand]: Author })[brand]
}
