import { ToolError } from '../../contract/tool-error.ts'
import { createRun } from '../../runner/folder/create-run.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { recover } from '../../runner/folder/recover.ts'
import { isRunId, newRunId } from '../../runner/folder/run-id.ts'
import { checkTools } from '../../workflow/definition/check-tools.ts'
import { problemsError } from '../../workflow/definition/finding.ts'
import { makeWorkflowRequest } from '../../workflow/run/make-workflow-request.ts'
import { workflowSubject } from '../../workflow/run/workflow-subject.ts'
import { callerOf } from '../run/channels.ts'
import { startDetachedRun } from '../run/detach.ts'
import { followInForeground } from '../run/foreground.ts'
import { withRegistry } from '../with-registry.ts'
import type { Execute } from './execute-type.ts'

/** Executes a workflow in this process, as a run on record. */
export const executeEmbedded: Execute = async ({ workflow, input, file, surroundings, id = newRunId(), detach, wait, progress, answers, typedAnswers, timeout }, { io, host, globals }) => {
  if (!isRunId(id)) throw new ToolError('INVALID_INPUT', `'${id.slice(0, 60)}' cannot be the id of a run: ids look like r-0123456789`, { field: 'id' })
  const root = findRunsFolder(io.cwd, surroundings.config)
  await recover(root)
  return withRegistry(surroundings, io, async (registry) => {
    const { problems, found } = await checkTools(workflow, registry)
    if (problems.length > 0) throw problemsError(problems, found)
    const request = makeWorkflowRequest(id, workflow, input, { cwd: io.cwd, env: io.env, timeout, surroundings, file, caller: callerOf(io), ...(answers && { answers }), ...(typedAnswers && { typedAnswers }) })
    const paths = createRun(root, request)
    if (detach) return startDetachedRun(paths, request, io, host, globals)
    return followInForeground(paths, request, { start: workflowSubject({ paths, request, registry, env: io.env, now: io.now }), wait, progress }, io, host, globals)
  })
}
