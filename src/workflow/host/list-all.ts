import type { RunState } from '../../contract/run-state.ts'
import { listRuns } from '../../runner/folder/list-runs.ts'
import type { WorkflowEngine, Execution } from '../engines/engine-type.ts'
import { glanceAtExecution } from './glance-at-execution.ts'

type Filter = { readonly name?: string; readonly state?: RunState; readonly limit?: number }

const AT_ONCE = 32

/** Executions of a folder, newest first: those that are runs, and those without a folder of their own. Of runs that are not given nothing is read. */
export async function listAll(root: string, light: Pick<WorkflowEngine, 'list'>, { name, state, limit = Infinity }: Filter): Promise<readonly Execution[]> {
  const isWanted = (execution: Execution): boolean => (name === undefined || execution.name === name) && (state === undefined || execution.state === state)
  const found: Execution[] = []
  const all = listRuns(root)
  for (let at = 0; at < all.length && found.length < limit; at += AT_ONCE) {
    const executions = await Promise.all(all.slice(at, at + AT_ONCE).map(({ paths }) => glanceAtExecution(paths)))
    for (const execution of executions) if (execution && isWanted(execution)) found.push(execution)
  }
  const plain = await light.list({ ...(name !== undefined && { name }), ...(state && { state }), ...(limit !== Infinity && { limit }) })
  return [...plain, ...found].sort((left, right) => (left.created < right.created ? 1 : left.created > right.created ? -1 : 0)).slice(0, limit)
}
