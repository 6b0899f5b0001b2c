import { ToolError } from '../../contract/tool-error.ts'
import { createRun } from '../../runner/folder/create-run.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { recover } from '../../runner/folder/recover.ts'
import { newRunId } from '../../runner/folder/run-id.ts'
import { hashWorkflow } from '../../workflow/definition/hash-workflow.ts'
import type { RestateEngine } from '../../workflow/engines/restate/engine.ts'
import { openServer, remoteSubject } from '../../workflow/engines/restate/remote-subject.ts'
import { makeWorkflowRequest } from '../../workflow/run/make-workflow-request.ts'
import { callerOf } from '../run/channels.ts'
import { startDetachedRun } from '../run/detach.ts'
import { followInForeground } from '../run/foreground.ts'
import type { Execute } from './execute-type.ts'

const INGRESS = 'http://127.0.0.1:8080'

/** Has workers at a Restate server execute a workflow. Here it is a run on record as well, which starts it there, shows what happens, and passes answers and cancellation on; whatever becomes of this process, the workflow goes on. */
export const executeRestate: Execute = async ({ workflow, input, file, surroundings, id = newRunId(), detach, wait, progress, answers, typedAnswers, timeout, ingress = INGRESS, admin }, { io, host, globals }) => {
  const server = { ingress, ...(admin !== undefined && { admin }) }
  await checkServer(openServer(server, io), id, hashWorkflow(workflow))
  const root = findRunsFolder(io.cwd, surroundings.config)
  await recover(root)
  const request = makeWorkflowRequest(id, workflow, input, { cwd: io.cwd, env: io.env, timeout, surroundings, file, server, caller: callerOf(io), ...(answers && { answers }), ...(typedAnswers && { typedAnswers }) })
  const paths = createRun(root, request)
  if (detach) return startDetachedRun(paths, request, io, host, globals)
  return followInForeground(paths, request, { start: remoteSubject({ paths, request, now: io.now }), wait, progress }, io, host, globals)
}

// A server that is not there leaves nothing on record here. Where the id is taken, it has to be by the same workflow.
async function checkServer(engine: RestateEngine, id: string, hash: string): Promise<void> {
  try {
    const known = await engine.get(id)
    if (known && known.hash !== '' && known.hash !== hash) throw new ToolError('CONFLICT', `${id} is the id of another workflow at the server: ${known.name}`, { field: 'id', suggestion: 'Leave --id out: a new one is made' })
  } finally {
    await engine.close()
  }
}
