import type { FoundTool } from '../../registry/found.ts'
import type { LoadedWorkflow } from './load-workflows.ts'

// By what makes it a tool: a source that has to be renamed copies the rest.
const workflows = new WeakMap<FoundTool['define'], LoadedWorkflow>()

/** Remembers which workflow a tool is. */
export function rememberWorkflow(found: FoundTool, loaded: LoadedWorkflow): FoundTool {
  workflows.set(found.define, loaded)
  return found
}

/** The workflow that a tool of a registry is; undefined for all other tools. */
export function workflowOf({ define }: Pick<FoundTool, 'define'>): LoadedWorkflow | undefined {
  return workflows.get(define)
}
