import { resolve } from 'node:path'
import { findRunsFolder } from '../runner/folder/find-runs-folder.ts'

/** The flag of every command that works with recorded runs. */
export const RUNS_PROPERTY = { runs: { type: 'string', description: 'Where runs are recorded; default: .runs beside the configuration' } } as const

/** Where the runs are that a command means. */
export function runsFolder(cwd: string, runs: string | undefined): string {
  return runs === undefined ? findRunsFolder(cwd) : resolve(cwd, runs)
}
