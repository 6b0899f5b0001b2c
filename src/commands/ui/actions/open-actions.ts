import { ToolError } from '../../../contract/tool-error.ts'
import { hasNoFolder } from '../../../runner/folder/has-no-folder.ts'
import { giveTo } from '../../control/answer.ts'
import { cancelRun } from '../../control/cancel.ts'
import { claimToResume } from '../../control/claim-to-resume.ts'
import { handToSupervisor } from '../../run/hand-over.ts'
import { isRunId } from '../../../runner/folder/run-id.ts'
import type { Started } from '../../../views/model/wire/others.ts'
import type { ActionsSource } from '../../../views/server/backend.ts'
import { findOrphans } from '../../../workflow/engines/embedded/light/adopt-orphan.ts'
import { adoptHere } from '../../workflow/adopt-here.ts'
import type { Project, Tools } from '../project.ts'
import { cleanOld } from './clean.ts'
import { findTool } from './find-tool.ts'
import { inTurn } from './in-turn.ts'
import { retryRun } from './retry.ts'
import { DASHBOARD, startTool } from './start.ts'

/** What can be done from a dashboard. Every run that is started or goes on has a process of its own, which outlives the dashboard; what acts on one run waits for its turn. */
export function openActions(project: Project, tools: Tools): ActionsSource {
  const {
    cwd,
    env,
    runsFolder,
    surroundings: { config },
  } = project
  const which = config === undefined ? {} : { config }
  const turns = inTurn()
  const never = new AbortController().signal

  const resume = async (id: string): Promise<Started> => {
    if (hasNoFolder(runsFolder, id) && (await findOrphans(runsFolder)).some(({ w }) => w === id))
      await adoptHere(runsFolder, id, which, { cwd, env })
    const { paths, request } = await claimToResume(id, {}, { cwd, config })
    await handToSupervisor(paths, request, project, 'resume')
    return { run_id: id }
  }

  return {
    async start({ tool, input, dry_run: dryRun = false, confirm = false }) {
      return startTool(
        await findTool(tools, tool, project),
        {
          given: { input },
          manner: { agreed: confirm, dryRun },
          options: { surroundings: project.surroundings },
        },
        project,
      )
    },
    cancel: async (id, reason) =>
      turns(checked(id), async () => {
        await cancelRun(
          { run: id, wait: false, reason: reason ?? `cancelled by the ${DASHBOARD}`, ...which },
          { cwd, env, signal: never },
          (paths, request) => handToSupervisor(paths, request, project, 'resume'),
        )
      }),
    resume: async (id) => turns(checked(id), () => resume(id)),
    retry: async (id, input, confirm) => retryRun(checked(id), input, confirm, tools, project),
    answer: async (id, question, value, note) =>
      turns(checked(id), async () => {
        const { go_on: isLeft } = await giveTo(
          { run: id, question, ...which },
          () => value,
          { by: DASHBOARD, ...(note !== undefined && { note }) },
          { cwd },
        )
        if (isLeft !== undefined) await resume(id)
      }),
    clean: async (days) => cleanOld(runsFolder, days, project.now()),
  }
}

// A page knows whole ids; the beginning of one, or `latest`, might mean another run by now.
function checked(id: string): string {
  if (isRunId(id)) return id
  throw new ToolError('NOT_FOUND', `there is no run '${id.slice(0, 100)}'`, {
    field: 'run',
    suggestion: 'toolable runs list',
  })
}
