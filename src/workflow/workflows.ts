import type { WorkflowHostOptions, Workflows } from './workflow-types.ts'

/**
 * Opens a host for workflows: executions are recorded in a folder, and go on after a crash. Throws
 * what keeps the folder from being used.
 */
export async function workflows(options: WorkflowHostOptions): Promise<Workflows> {
  return (await import('./host.ts')).openWorkflowHost(options)
}
