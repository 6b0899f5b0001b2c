import type { WorkflowHostOptions, Workflows } from './workflow-types.ts'

/**
 * Opens a host for workflows: executions are recorded in a folder, and continue after a crash.
 * Throws what prevents using the folder.
 */
export async function workflows(options: WorkflowHostOptions): Promise<Workflows> {
  return (await import('./host.ts')).openWorkflowHost(options)
}
