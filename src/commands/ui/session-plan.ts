import { statSync } from 'node:fs'
import { findSessionFile, openPlanFile } from '../../prompting/planning/plan-file.ts'
import type { ShownPlan } from '../../views/model/wire/others.ts'
import type { Project } from './project.ts'

/** The plan that `toolable plan` keeps for the project; none where there is none, or none that can be read. */
export async function readSessionPlan({
  cwd,
  surroundings: { config },
}: Pick<Project, 'cwd' | 'surroundings'>): Promise<readonly ShownPlan[]> {
  const file = findSessionFile(cwd, { config })
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) return []
  try {
    const plan = await openPlanFile(
      file,
      { progress: () => undefined, signal: new AbortController().signal },
      (keeper) => keeper.read(),
      { readOnly: true },
    )
    return [{ plan, file, changed: stats.mtime.toISOString() }]
  } catch {
    return []
  }
}
