/**
 * The embedded engine: executes a workflow in this process, as a run on record.
 */

import { ToolError } from '../../protocol/tool-error.ts'
import { recoverRuns } from '../../runner/recover.ts'
import { createRunId, findRunsFolder, isRunId } from '../../runner/run-paths.ts'
import { compact } from '../../util/values.ts'
import { checkTools } from '../../workflow/definition/checks.ts'
import { createProblemsError } from '../../workflow/definition/reader.ts'
import { createWorkflowRequest } from '../../workflow/request.ts'
import { createWorkflowTarget } from '../../workflow/workflow-run.ts'
import { withRegistry } from '../config.ts'
import { getRunCaller } from '../run/consent.ts'
import { createRunOnce, detachRun } from '../run/create-run.ts'
import { runInForeground } from '../run/foreground.ts'
import { obtainWorkflowConsent, toRunFlags } from './execution.ts'
import type { ExecuteWorkflow } from './execution.ts'

/** Executes a workflow in this process, as a run on record. */
export const executeEmbedded: ExecuteWorkflow = async (wanted, context) => {
  const {
    workflow,
    input,
    file,
    surroundings,
    id = createRunId(),
    detach,
    wait,
    progress,
    key,
    answers,
    typedAnswers,
    timeout,
  } = wanted
  const { io, host, globals } = context
  if (!isRunId(id))
    throw new ToolError(
      'INVALID_INPUT',
      `'${id.slice(0, 60)}' cannot be the id of a run: ids look like r-0123456789`,
      { field: 'id' },
    )
  const root = findRunsFolder(io.cwd, surroundings.config)
  await recoverRuns(root)
  return withRegistry(surroundings, io, async (registry) => {
    const { problems, found } = await checkTools(workflow, registry)
    if (problems.length > 0) throw createProblemsError(problems, found)
    await obtainWorkflowConsent(workflow, registry, context)
    const asked = createWorkflowRequest(id, workflow, input, {
      cwd: io.cwd,
      env: io.env,
      timeout,
      surroundings,
      file,
      caller: getRunCaller(io),
      ...compact({ answers, typedAnswers }),
    })
    const keyed = await createRunOnce(root, asked, key)
    if (keyed.is !== 'new')
      return (await import('../control/resume.ts')).joinEarlierRun(
        keyed,
        { flags: toRunFlags(wanted), progress },
        io,
        host,
        globals,
      )
    const { paths, request } = keyed
    if (detach) return detachRun(paths, request, io, host, globals)
    return runInForeground(
      paths,
      request,
      {
        start: createWorkflowTarget({ paths, request, registry, env: io.env, now: io.now }),
        wait,
        progress,
      },
      io,
      host,
      globals,
    )
  })
}
