import { readRequest } from '../../runner/folder/open-run.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { glance } from '../../runner/summary/read-summary.ts'
import type { Execution } from '../engines/engine-type.ts'
import { describeRun } from './read-execution.ts'

/** How an execution stands, as quickly as it can be had; undefined for a run that is none, or that nobody can read. */
export async function glanceAtExecution(paths: RunPaths): Promise<Execution | undefined> {
  try {
    const request = readRequest(paths)
    return request.command === 'workflow'
      ? describeRun(request, await glance(paths, request))
      : undefined
  } catch {
    return undefined
  }
}
