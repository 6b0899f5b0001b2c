import { existsSync } from 'node:fs'
import { ToolError } from '../../contract/tool-error.ts'
import { inputFromWords } from '../../define/argv/input-from-words.ts'
import type { Entry } from '../../registry/entry.ts'
import { readRequest } from '../../runner/folder/open-run.ts'
import { runPaths } from '../../runner/folder/run-paths.ts'
import { makeWorkflowRequest } from '../run/make-workflow-request.ts'
import type { LoadedWorkflow } from '../source/load-workflows.ts'
import { workflowOf } from '../source/workflow-of.ts'
import { childRequest } from './child-request.ts'
import type { ChildWork } from './child-step.ts'
import type { StepCall, StepHost } from './step-host.ts'
import { childRunId } from './step-names.ts'

/** Workflows that are steps of each other, one in the other. */
const DEEPEST = 10

/** What the tool of a step is as a run of its own; undefined for a tool that is called. Throws PRECONDITION for workflows that run each other without an end. */
export async function findChildWork(
  host: StepHost,
  call: StepCall,
  entry: Entry,
): Promise<ChildWork | undefined> {
  const loaded = host.startWorkflow && workflowOf(entry.found)
  if (loaded) return workflowWork(host, call, entry, loaded)
  const program = await entry.found.program?.()
  return (
    program && {
      runId: childRunId(call.idempotencyKey),
      request: (paths) => childRequest({ host, call, entry, program }, paths),
    }
  )
}

async function workflowWork(
  host: StepHost,
  call: StepCall,
  entry: Entry,
  { workflow, file }: LoadedWorkflow,
): Promise<ChildWork> {
  if (call.permissions)
    throw new ToolError(
      'PERMISSION',
      `'${call.tool}' is a workflow, whose steps have permissions of their own`,
      { suggestion: 'Take the permissions out of the step' },
    )
  requireShallow(host.runsFolder, call, entry)
  const { cwd, env, traceparent, startWorkflow } = host
  const input =
    'input' in call.given
      ? call.given.input
      : inputFromWords((await entry.definition.compiled()).manifest, call.given.args, env)
  return {
    // A workflow that failed has taken back what it did: another try begins anew.
    runId: childRunId(
      call.attempt > 1 ? `${call.idempotencyKey}#${call.attempt}` : call.idempotencyKey,
    ),
    request: async ({ id }) => ({
      ...makeWorkflowRequest(id, workflow, input, {
        cwd,
        env: traceparent === undefined ? env : { ...env, TRACEPARENT: traceparent },
        file,
        caller: 'workflow',
        ...(call.timeout !== undefined && { timeout: call.timeout }),
      }),
      parent: { run_id: call.workflow, step: call.step },
    }),
    start: startWorkflow!,
  }
}

function requireShallow(root: string, { workflow, step }: StepCall, { id }: Entry): void {
  let number = 1
  for (let run: string | undefined = workflow; run !== undefined;) {
    number += 1
    if (number > DEEPEST)
      throw new ToolError(
        'PRECONDITION',
        `the workflow '${id}' is not run: at step '${step}' it would be number ${number} of workflows that run each other`,
        {
          recoverable: false,
          suggestion: `Give the step a condition that ends it ('when'); ${DEEPEST} workflows may stand in one another`,
        },
      )
    const paths = runPaths(root, run)
    run = existsSync(paths.request) ? readRequest(paths).parent?.run_id : undefined
  }
}
