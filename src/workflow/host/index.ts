import type { Workflows, WorkflowHostOptions } from './workflows-type.ts'

/** Opens a host for workflows: executions are recorded in a folder, and go on after a crash. Throws what keeps the folder from being used. */
export async function workflows(options: WorkflowHostOptions): Promise<Workflows> {
  return (await import('./open-workflows.ts')).openWorkflows(options)
}
