import type { Context } from '../../contract/context.ts'
import type { JsonObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { SuggestionInput } from '../../contract/tool-error.ts'
import { ok, withForeign } from '../../define/results.ts'
import type { Reply } from '../../define/results.ts'
import { createRun } from '../../runner/folder/create-run.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { newRunId } from '../../runner/folder/run-id.ts'
import { folderChannel } from '../../runner/interactions/channels/folder.ts'
import { performRun } from '../../runner/perform-run.ts'
import { readSummary } from '../../runner/summary/read-summary.ts'
import type { RunSummary } from '../../views/model/summary/summary.ts'
import { makeWorkflowRequest } from '../run/make-workflow-request.ts'
import { workflowSubject } from '../run/workflow-subject.ts'
import { plainCode } from '../steps/step-error.ts'
import { callerChannel } from './caller-channel.ts'
import type { LoadedWorkflow } from './load-workflows.ts'
import { tellCaller } from './tell-caller.ts'
import type { WorkflowHost } from './workflow-host.ts'

export type Execute = { readonly loaded: LoadedWorkflow; readonly input: JsonObject }

/** Executes a workflow for a call: as a run on record, whose questions the caller answers, or anybody by `toolable answer` meanwhile. Gives its result and the id of the run; throws what it failed with. */
export async function executeWorkflow(
  { loaded: { workflow, file }, input }: Execute,
  ctx: Context,
  { opened, cwd, surroundings, closed }: WorkflowHost,
): Promise<Reply> {
  const { env } = ctx
  const request = makeWorkflowRequest(newRunId(), workflow, input, {
    cwd: ctx.cwd,
    env,
    file,
    caller: ctx.caller,
    ...(surroundings && { surroundings }),
  })
  const paths = createRun(findRunsFolder(cwd), request)
  await performRun(paths, request, {
    env,
    start: workflowSubject({ paths, request, registry: opened(), env, now: Date.now }),
    channels: [callerChannel(ctx), { ...folderChannel(paths.answers), passive: true }],
    onWritten: tellCaller(ctx),
    signal: AbortSignal.any([ctx.signal, closed]),
  })
  return conclude(await readSummary(paths, request))
}

function conclude({ run_id, state, result, error }: RunSummary): Reply {
  if (state === 'completed') return withForeign(ok(result ?? null), { run_id })
  const code = state === 'cancelled' ? 'CANCELLED' : plainCode(error?.code ?? 'INTERNAL')
  throw new ToolError(code, error?.message ?? `the workflow was ${state}`, {
    details: { run_id },
    ...(code !== 'CANCELLED' && { suggestion: suggest(code, run_id, error?.hint) }),
  })
}

function suggest(code: string, runId: string, hint: string | undefined): SuggestionInput {
  if (code === 'ANSWER_REQUIRED' && hint !== undefined)
    return {
      action: 'retry_with_modified_input',
      fix: 'Answer it, and the workflow goes on',
      example: hint,
      applicability: 'has_placeholders',
    }
  return hint ?? { action: 'abort', fix: `toolable runs show ${runId}` }
}
