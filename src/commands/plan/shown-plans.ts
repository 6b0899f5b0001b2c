import { statSync } from 'node:fs'
import { findSessionFile, openPlanFile } from '../../prompting/planning/plan-file.ts'
import type { ShownPlan } from '../../views/model/wire/others.ts'

/** The plan of the session of a project, for whoever shows plans; none where there is no plan, or a file that nobody can read. */
export async function findProjectPlans(cwd: string, config?: string): Promise<readonly ShownPlan[]> {
  const file = findSessionFile(cwd, { config })
  try {
    const changed = statSync(file).mtime.toISOString()
    const plan = await openPlanFile(file, { progress: () => undefined, signal: new AbortController().signal }, (keeper) => keeper.read(), { readOnly: true })
    return [{ plan, file, changed }]
  } catch {
    return []
  }
}
