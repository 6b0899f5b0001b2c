/**
 * The engines that execute a workflow: embedded in this process, or on a Restate server. A new
 * engine is one function and one line in ENGINES.
 */

import type { BuiltinContext } from '../../cli/types.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { Registry } from '../../registry/types.ts'
import { recoverRuns } from '../../runner/recover.ts'
import type { RunOptions } from '../../runner/request.ts'
import { createRunId, findRunsFolder, isRunId } from '../../runner/run-paths.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { Workflow } from '../../workflow/definition/model.ts'
import { createWorkflowRequest, hashWorkflow } from '../../workflow/request.ts'
import type { ProgressStyle } from '../command.ts'
import type { RegistryFlags } from '../config.ts'
import { withRegistry } from '../config.ts'
import { obtainConsent, toWorkflowConsentRequest } from '../run/consent.ts'
import type { RunFlags } from '../run/create-run.ts'
import { startOrJoinRun } from '../run/run.ts'
import { requireTools } from './describe-workflow.ts'

/** A workflow to execute, as the command line asks for it. */
type WorkflowExecution = {
  readonly workflow: Workflow
  readonly input: JsonObject
  /** The file of the workflow. */
  readonly file: string
  readonly flags: RunFlags &
    RegistryFlags & {
      readonly id?: string
      /** Where the server of a distributed engine listens. */
      readonly ingress?: string
      /** Where that server is administered. */
      readonly admin?: string
    }
  readonly options: RunOptions & { readonly surroundings: RegistryFlags }
  readonly progress: ProgressStyle
}

/** Executes a workflow while its caller watches; gives the exit status. */
type ExecuteWorkflow = (wanted: WorkflowExecution, context: BuiltinContext) => Promise<number>

/** The engines by their names. */
export const ENGINES: { readonly [name: string]: ExecuteWorkflow } = {
  embedded: executeEmbedded,
  restate: executeRestate,
}

/** Executes a workflow in this process, as a run on record. */
async function executeEmbedded(
  wanted: WorkflowExecution,
  context: BuiltinContext,
): Promise<number> {
  const { workflow, flags, options } = wanted
  const { id = createRunId() } = flags
  if (!isRunId(id))
    throw new ToolError(
      'INVALID_INPUT',
      `'${id.slice(0, 60)}' cannot be the id of a run: ids look like r-0123456789`,
      { field: 'id' },
    )
  await recoverRuns(findRunsFolder(context.io.cwd, flags.config))
  return withRegistry(options.surroundings, context.io, async (registry) => {
    await requireTools(workflow, registry)
    await obtainWorkflowConsent(workflow, registry, context)
    return execute(id, wanted, { registry }, context)
  })
}

const DEFAULT_INGRESS = 'http://127.0.0.1:8080'

/**
 * Has the workers of a Restate server execute a workflow. Here it is a run on record as well, which
 * starts it there, shows what happens, and passes answers and cancellation on. The workflow
 * continues when this process ends.
 */
async function executeRestate(wanted: WorkflowExecution, context: BuiltinContext): Promise<number> {
  const { workflow, flags, options } = wanted
  const { id = createRunId(), ingress = DEFAULT_INGRESS, admin } = flags
  const { io } = context
  const server = compact({ ingress, admin })
  await requireServer(server, id, hashWorkflow(workflow), context)
  // Its tools are those of the workers; consent is about what this project knows of them.
  await withRegistry(options.surroundings, io, async (registry) => {
    await registry.prepare?.()
    await obtainWorkflowConsent(workflow, registry, context)
  })
  await recoverRuns(findRunsFolder(io.cwd, flags.config))
  return execute(id, wanted, { server }, context)
}

function execute(
  id: string,
  { workflow, input, file, flags, options, progress }: WorkflowExecution,
  { registry, server }: { readonly registry?: Registry; readonly server?: RestateServer },
  context: BuiltinContext,
): Promise<number> {
  const { cwd, env } = context.io
  const request = createWorkflowRequest(id, workflow, input, { ...options, cwd, env, file, server })
  const root = findRunsFolder(cwd, flags.config)
  const key = context.globals.idempotencyKey
  return startOrJoinRun({ root, request, key, flags, progress, ...compact({ registry }) }, context)
}

function obtainWorkflowConsent(
  workflow: Workflow,
  registry: Registry,
  context: BuiltinContext,
): Promise<void> {
  const mode = { agreed: context.globals.yes === true, dryRun: false }
  return obtainConsent(toWorkflowConsentRequest(workflow, registry), mode, context)
}

type RestateServer = { readonly ingress: string; readonly admin?: string }

// Without a server, nothing is recorded here. Where the id is taken, it has to be by the same
// workflow.
async function requireServer(
  server: RestateServer,
  id: string,
  hash: string,
  { io }: BuiltinContext,
): Promise<void> {
  const { openRestateEngine } = await import('../../workflow/restate/remote-run.ts')
  const engine = openRestateEngine(server, io)
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
