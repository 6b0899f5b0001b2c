import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import { diskProblem } from '../log/disk-problem.ts'
import type { RunRequest } from '../run-request.ts'
import { claim } from './lock.ts'
import { isRunId, newRunId } from './run-id.ts'
import { runPaths } from './run-paths.ts'
import type { RunPaths } from './run-paths.ts'
import { writeAtomically } from './write-atomically.ts'

const MOST_TRIES = 10

/** Makes the folder of a new run, readable by its owner only, with `run.json` in it; it is claimed by this process. A function is given an id, and asked again where that is taken. Throws CONFLICT for an id that is taken, DISK_FULL, PERMISSION or INTERNAL; then there is no folder. */
export function createRun(
  root: string,
  request: RunRequest | ((runId: string) => RunRequest),
): RunPaths {
  try {
    prepareRoot(root)
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const made = typeof request === 'function' ? request(newRunId()) : request
      if (!isRunId(made.run_id))
        throw new ToolError('INTERNAL', `'${made.run_id}' cannot be the id of a run`)
      const paths = runPaths(root, made.run_id)
      if (makeFolder(paths.folder)) return fill(paths, made)
    }
  } catch (error) {
    throw diskProblem(error, `cannot create a run in ${root}`)
  }
  throw new ToolError('CONFLICT', `cannot create a run in ${root}: its id is taken`)
}

/** Makes the folder of runs where it is missing, such that git leaves it alone. Not recursively: the folder that it lies in is there, and on some file systems node would try forever. */
export function prepareRoot(root: string): void {
  if (!makeFolder(root)) return
  try {
    writeFileSync(join(root, '.gitignore'), '*\n', { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function makeFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

// `run.json` comes last, and whole: a folder without it is no run.
function fill(paths: RunPaths, request: RunRequest): RunPaths {
  try {
    claim(paths)
    for (const folder of [
      paths.workspace,
      paths.toolLogs,
      paths.logs,
      paths.artifacts,
      paths.answers,
    ])
      mkdirSync(folder, { mode: 0o700 })
    // Read by the tool, who may be somebody else.
    mkdirSync(paths.control, { mode: 0o755 })
    writeAtomically(paths.request, `${JSON.stringify(request, undefined, 2)}\n`, true)
    return paths
  } catch (error) {
    rmSync(paths.folder, { recursive: true, force: true })
    throw error
  }
}
