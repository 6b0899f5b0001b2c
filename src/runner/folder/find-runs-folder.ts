import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isRunId } from './run-id.ts'

const RUNS = '.runs'
const CONFIGURATIONS = ['toolable.yaml', 'toolable.yml', 'toolable.json'] as const

/** The folder of the runs that are started in a directory: beside the configuration that was named, else beside the nearest one upwards, else in the directory itself. What a run starts is recorded beside it, never inside it, because its workspace goes when it is cleaned. It need not exist. */
export function findRunsFolder(cwd: string, configuration?: string): string {
  if (configuration !== undefined) return join(dirname(resolve(cwd, configuration)), RUNS)
  return findAround(cwd) ?? join(findConfigured(cwd) ?? cwd, RUNS)
}

// The outermost one, whatever a workspace holds.
function findAround(cwd: string): string | undefined {
  let found: string | undefined
  for (let folder = cwd; dirname(folder) !== folder; folder = dirname(folder)) {
    if (isRunId(basename(folder)) && basename(dirname(folder)) === RUNS) found = dirname(folder)
  }
  return found
}

function findConfigured(cwd: string): string | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (CONFIGURATIONS.some((name) => existsSync(join(folder, name)))) return folder
    if (dirname(folder) === folder) return undefined
  }
}
