import { ToolError } from '../../contract/tool-error.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { recover } from '../../runner/folder/recover.ts'
import { newRunId } from '../../runner/folder/run-id.ts'
import { hashWorkflow } from '../../workflow/definition/hash-workflow.ts'
import type { RestateEngine } from '../../workflow/engines/restate/engine.ts'
import { openServer, remoteSubject } from '../../workflow/engines/restate/remote-subject.ts'
import { makeWorkflowRequest } from '../../workflow/run/make-workflow-request.ts'
import { callerOf } from '../run/channels.ts'
import { createOnce } from '../run/claim-key.ts'
import { startDetachedRun } from '../run/detach.ts'
import { followInForeground } from '../run/foreground.ts'
import { withRegistry } from '../with-registry.ts'
import { runFlagsOf } from './execute-type.ts'
import type { Execute } from './execute-type.ts'
import { consentToWorkflow } from './workflow-consent.ts'

const INGRESS = 'http://127.0.0.1:8080'

/** Has workers at a Restate server execute a workflow. Here it is a run on record as well, which starts it there, shows what happens, and passes answers and cancellation on; whatever becomes of this process, the workflow goes on. */
export const executeRestate: Execute = async (wanted, context) => {
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
    ingress = INGRESS,
    admin,
  } = wanted
  const { io, host, globals } = context
  const server = { ingress, ...(admin !== undefined && { admin }) }
  await checkServer(openServer(server, io), id, hashWorkflow(workflow))
  // Its tools are those of the workers; what this project knows of them is what can be asked about.
  await withRegistry(surroundings, io, async (registry) => {
    await registry.prepare?.()
    await consentToWorkflow(workflow, registry, context)
  })
  const root = findRunsFolder(io.cwd, surroundings.config)
  await recover(root)
  const asked = makeWorkflowRequest(id, workflow, input, {
    cwd: io.cwd,
    env: io.env,
    timeout,
    surroundings,
    file,
    server,
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
    { start: remoteSubject({ paths, request, now: io.now }), wait, progress },
    io,
    host,
    globals,
  )
}

// A server that is not there leaves nothing on record here. Where the id is taken, it has to be by the same workflow.
async function checkServer(engine: RestateEngine, id: string, hash: string): Promise<void> {
  try {
    const known = await engine.get(id)
    if (known && known.hash !== '' && known.hash !== hash)
      throw new ToolError(
        'CONFLICT',
        `${id} is the id of another workflow at the server: ${known.name}`,
        { field: 'id', suggestion: 'Leave --id out: a new one is made' },
      )
  } finally {
    await engine.close()
  }
}
