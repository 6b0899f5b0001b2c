import type { Io } from '../../contract/io.ts'
import type { Registry } from '../../registry/registry-type.ts'
import type { StartSubject } from '../../runner/attempt/subject.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { newRunId } from '../../runner/folder/run-id.ts'
import type { Given, RunOptions } from '../../runner/make-request.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import { makeWorkflowRequest } from '../../workflow/run/make-workflow-request.ts'
import { workflowSubject } from '../../workflow/run/workflow-subject.ts'
import type { LoadedWorkflow } from '../../workflow/source/load-workflows.ts'

/** How a tool is run that is a workflow: as a run of its own, and no call inside one. */
export function asWorkflow({ workflow, file }: LoadedWorkflow, registry: Registry, { cwd, env, now }: Io): { request(given: Given, options: RunOptions): RunRequest; start(paths: RunPaths, request: RunRequest): StartSubject } {
  return {
    request: ({ input = {} }, { timeout, answers, surroundings, caller }) => makeWorkflowRequest(newRunId(), workflow, input, { cwd, env, timeout, file, caller, ...(answers && { answers }), ...(surroundings && { surroundings }) }),
    start: (paths, request) => workflowSubject({ paths, request, registry, env, now }),
  }
}
