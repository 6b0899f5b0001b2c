import type { RegistryOptions as ToolOptions } from '../../registry/registry-type.ts'
import type { BuiltWorkflow } from '../build/built-type.ts'
import type { WorkflowData } from '../definition/workflow-type.ts'

/** A file or a folder of workflows. */
export type WorkflowsOptions = {
  readonly path: string
  /** The first half of their ids; default: the name of the folder, and `workflows` for a file. */
  readonly name?: string
}

/** A workflow that becomes a tool: a file or folder, what `workflow()` gives, or the definition itself. */
export type WorkflowItem =
  string | WorkflowsOptions | BuiltWorkflow<never, unknown> | BuiltWorkflow | WorkflowData

/** Where tools come from, and how they are run. */
export type RegistryOptions = ToolOptions & {
  /** Workflows, each of them a tool; files (`.yaml`, `.yml`, `.json`, and code that exports one), folders of data files, or values. A call is a run on record, under `.runs` beside the configuration. */
  readonly workflows?: readonly WorkflowItem[]
}
