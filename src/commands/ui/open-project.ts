import { dirname, resolve } from 'node:path'
import { findProject } from '../../call/find-project.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import type { Project } from './project.ts'

/** The project of a directory, as flags say which it is. A configuration that is not there is told by whoever needs it. */
export function openProject({
  cwd,
  surroundings,
  ...given
}: Omit<Project, 'root' | 'runsFolder'>): Project {
  const { config } = surroundings
  return {
    ...given,
    cwd,
    surroundings,
    root: config === undefined ? (findProject(cwd) ?? cwd) : dirname(resolve(cwd, config)),
    runsFolder: findRunsFolder(cwd, config),
  }
}
