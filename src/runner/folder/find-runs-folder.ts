import { basename, dirname, join, resolve } from 'node:path'
import { findProject } from '../../call/find-project.ts'
import { isRunId } from './run-id.ts'

const RUNS = '.runs'

/** The folder of the runs that are started in a directory: beside the configuration that was named, else beside the nearest one upwards, else in the directory itself. What a run starts is recorded beside it, never inside it, because its workspace goes when it is cleaned. It need not exist. */
export function findRunsFolder(cwd: string, configuration?: string): string {
  if (configuration !== undefined) return join(dirname(resolve(cwd, configuration)), RUNS)
  return findAround(cwd) ?? join(findProject(cwd) ?? cwd, RUNS)
}

// The outermost one, whatever a workspace holds.
function findAround(cwd: string): string | undefined {
  let found: string | undefined
  for (let folder = cwd; dirname(folder) !== folder; folder = dirname(folder)) {
    if (isRunId(basename(folder)) && basename(dirname(folder)) === RUNS) found = dirname(folder)
  }
  return found
}
