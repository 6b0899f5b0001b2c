import { randomBytes } from 'node:crypto'
import type { Backend } from '../../views/server/backend.ts'
import { openRunsSource } from '../../views/server/runs/open-runs-source.ts'
import { openActions } from './actions/open-actions.ts'
import { openTools } from './catalogue/live-tools.ts'
import { openCatalogue } from './catalogue/open-catalogue.ts'
import type { Project } from './project.ts'
import { readSessionPlan } from './session-plan.ts'

const EPOCH_BYTES = 6

/** Everything behind the pages of a project, until it is closed. */
export function openBackend(
  project: Project,
  { version, readOnly }: { readonly version: string; readonly readOnly: boolean },
): Backend & { close(): Promise<void> } {
  const epoch = randomBytes(EPOCH_BYTES).toString('hex')
  const tools = openTools(project)
  const runs = openRunsSource({
    root: project.runsFolder,
    now: project.now,
    epoch,
    plans: () => readSessionPlan(project),
  })
  return {
    runs,
    actions: openActions(project, tools),
    catalogue: openCatalogue({
      project,
      tools,
      rowsOf: () => runs.rows(),
      version,
      readOnly,
      epoch,
    }),
    async close() {
      await Promise.all([runs.close(), tools.close()])
    },
  }
}
