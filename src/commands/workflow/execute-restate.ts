/**
 * The Restate engine: workers of a server execute the workflow; here it is a run on record that follows them.
 */

import { ToolError } from '../../protocol/tool-error.ts'
import { recoverRuns } from '../../runner/recover.ts'
import { createRunId, findRunsFolder } from '../../runner/run-paths.ts'
import { compact } from '../../util/values.ts'
import { createWorkflowRequest, hashWorkflow } from '../../workflow/request.ts'
import { createRemoteTarget, openRestateEngine } from '../../workflow/restate/remote-run.ts'
import type { RestateEngine } from '../../workflow/restate/restate-engine.ts'
import { withRegistry } from '../config.ts'
import { getRunCaller } from '../run/consent.ts'
import { createRunOnce, detachRun } from '../run/create-run.ts'
import { runInForeground } from '../run/foreground.ts'
import { obtainWorkflowConsent, toRunFlags } from './execution.ts'
import type { ExecuteWorkflow } from './execution.ts'

const DEFAULT_INGRESS = 'http://127.0.0.1:8080'

/**
 * Has workers at a Restate server execute a workflow. Here it is a run on record as well, which
 * starts it there, shows what happens, and passes answers and cancellation on; whatever becomes of
 * this process, the workflow goes on.
 */
export const executeRestate: ExecuteWorkflow = async (wanted, context) => {
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
    ingress = DEFAULT_INGRESS,
    admin,
  } = wanted
  const { io, host, globals } = context
  const server = compact({ ingress, admin })
  await requireServer(openRestateEngine(server, io), id, hashWorkflow(workflow))
  // Its tools are those of the workers; what this project knows of them is what can be asked about.
  await withRegistry(surroundings, io, async (registry) => {
    await registry.prepare?.()
    await obtainWorkflowConsent(workflow, registry, context)
  })
  const root = findRunsFolder(io.cwd, surroundings.config)
  await recoverRuns(root)
  const asked = createWorkflowRequest(id, workflow, input, {
    cwd: io.cwd,
    env: io.env,
    timeout,
    surroundings,
    file,
    server,
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
    { start: createRemoteTarget({ paths, request, now: io.now }), wait, progress },
    io,
    host,
    globals,
  )
}

// A server that is not there leaves nothing on record here. Where the id is taken, it has to be by
// the same workflow.
async function requireServer(engine: RestateEngine, id: string, hash: string): Promise<void> {
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
