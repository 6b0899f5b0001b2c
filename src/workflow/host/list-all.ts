import type { RunState } from '../../contract/run-state.ts'
import { listRuns } from '../../runner/folder/list-runs.ts'
import type { WorkflowEngine, Execution } from '../engines/engine-type.ts'
import { glanceAtExecution } from './glance-at-execution.ts'
import { newestFirst, readNewest } from './read-newest.ts'

type Filter = { readonly name?: string; readonly state?: RunState; readonly limit?: number }

/** Executions of a folder, newest first: those that are runs, and those without a folder of their own. Of runs that are not given nothing is read. */
export async function listAll(
  root: string,
  light: Pick<WorkflowEngine, 'list'>,
  { name, state, limit = Infinity }: Filter,
): Promise<readonly Execution[]> {
  const isWanted = (execution: Execution): boolean =>
    (name === undefined || execution.name === name) &&
    (state === undefined || execution.state === state)
  const runs = await readNewest(
    listRuns(root),
    async ({ paths }) => {
      const execution = await glanceAtExecution(paths)
      return execution && isWanted(execution) ? execution : undefined
    },
    limit,
  )
  const plain = await light.list({
    ...(name !== undefined && { name }),
    ...(state && { state }),
    ...(limit !== Infinity && { limit }),
  })
  return [...plain, ...runs].sort(newestFirst).slice(0, limit)
}
