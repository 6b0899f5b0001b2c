/**
 * Cheap lookups that commands make for every run: which workflow a tool is, and which command
 * resumes a run. Kept apart so that they load nothing else.
 */

import type { RegistryEntry } from '../registry/catalog.ts'
import type { FoundTool } from '../registry/source.ts'
import type { RunRequest } from '../runner/request.ts'
import type { RunPaths } from '../runner/run-paths.ts'
import type { RunSummary } from '../views/model/run-summary.ts'
import type { Workflow } from './definition/model.ts'

/** A workflow that was found, and where. */
export type LoadedWorkflow = {
  readonly workflow: Workflow
  /** Absent for one that was made in this process. */ readonly file?: string
}

// By the function that defines the tool, because a source that is renamed copies the rest.
const workflowsByDefine = new WeakMap<FoundTool['define'], LoadedWorkflow>()

/** Remembers which workflow a tool is. */
export function rememberWorkflow(found: FoundTool, loaded: LoadedWorkflow): FoundTool {
  workflowsByDefine.set(found.define, loaded)
  return found
}

/** The workflow that a tool of a registry is; undefined for all other tools. */
export function getLoadedWorkflow({
  define,
}: Pick<FoundTool, 'define'>): LoadedWorkflow | undefined {
  return workflowsByDefine.get(define)
}

/** True for a tool that is called in this process: it is no program and no workflow. */
export function isFunctionTool(entry: RegistryEntry | undefined): entry is RegistryEntry {
  return entry !== undefined && !entry.found.program && !getLoadedWorkflow(entry.found)
}

/**
 * The command that resumes a failed or cancelled run; undefined when none does: a workflow that has
 * ended is not resumed.
 */
export async function findResumeCommand(
  paths: RunPaths,
  { command }: Pick<RunRequest, 'command'>,
  { state, error }: Pick<RunSummary, 'state' | 'error'>,
): Promise<string | undefined> {
  if (state !== 'failed' && state !== 'cancelled') return undefined
  if (
    command === 'workflow' &&
    !(await (await import('./run-record.ts')).isResumable(paths, error?.code))
  )
    return undefined
  return `toolable resume ${paths.id}`
}
