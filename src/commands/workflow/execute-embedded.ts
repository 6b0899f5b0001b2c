import { ToolError } from '../../contract/tool-error.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { recover } from '../../runner/folder/recover.ts'
import { isRunId, newRunId } from '../../runner/folder/run-id.ts'
import { checkTools } from '../../workflow/definition/check-tools.ts'
import { problemsError } from '../../workflow/definition/finding.ts'
import { makeWorkflowRequest } from '../../workflow/run/make-workflow-request.ts'
import { workflowSubject } from '../../workflow/run/workflow-subject.ts'
import { callerOf } from '../run/channels.ts'
import { createOnce } from '../run/claim-key.ts'
import { startDetachedRun } from '../run/detach.ts'
import { followInForeground } from '../run/foreground.ts'
import { withRegistry } from '../with-registry.ts'
import { runFlagsOf } from './execute-type.ts'
import type { Execute } from './execute-type.ts'
import { consentToWorkflow } from './workflow-consent.ts'

/** Executes a workflow in this process, as a run on record. */
export const executeEmbedded: Execute = async (wanted, context) => {
  const {
    workflow,
    input,
    file,
    surroundings,
    id = newRunId(),
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
  await recover(root)
  return withRegistry(surroundings, io, async (registry) => {
    const { problems, found } = await checkTools(workflow, registry)
    if (problems.length > 0) throw problemsError(problems, found)
    await consentToWorkflow(workflow, registry, context)
    const asked = makeWorkflowRequest(id, workflow, input, {
      cwd: io.cwd,
      env: io.env,
      timeout,
      surroundings,
      file,
      caller: callerOf(io),
      ...(answers && { answers }),
      ...(typedAnswers && { typedAnswers }),
    })
    const keyed = await createOnce(root, asked, key)
    if (keyed.is !== 'new')
      return (await import('../run/join-earlier.ts')).joinEarlier(
        keyed,
        { flags: runFlagsOf(wanted), progress },
        io,
        host,
        globals,
      )
    const { paths, request } = keyed
    if (detach) return startDetachedRun(paths, request, io, host, globals)
    return followInForeground(
      paths,
      request,
      {
        start: workflowSubject({ paths, request, registry, env: io.env, now: io.now }),
        wait,
        progress,
      },
      io,
      host,
      globals,
    )
  })
}
