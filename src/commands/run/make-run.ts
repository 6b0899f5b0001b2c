import type { Entry } from '../../registry/entry.ts'
import type { FoundProgram } from '../../registry/found.ts'
import type { Registry } from '../../registry/registry-type.ts'
import type { StartSubject } from '../../runner/attempt/subject.ts'
import { newRunId } from '../../runner/folder/run-id.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { makeRequest } from '../../runner/make-request.ts'
import type { Given, RunOptions } from '../../runner/make-request.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { LoadedWorkflow } from '../../workflow/source/load-workflows.ts'

/** A tool that is to be run, with what it gets. */
export type WantedRun = {
  readonly entry: Entry
  /** Where it is one. */ readonly program: FoundProgram | undefined
  readonly given: Given
  readonly options: RunOptions
  /** It plans instead of acting; it has been told already where it is a program. */ readonly dryRun: boolean
  /** Where it is one: then it is a run of its own, and no call inside one. */ readonly workflow:
    LoadedWorkflow | undefined
}

export type MadeRun = {
  readonly request: RunRequest
  /** Performs it, where it is neither a program nor a tool that is called. */ readonly start?: (
    paths: RunPaths,
    request: RunRequest,
    registry: Registry,
  ) => StartSubject
}

type Where = {
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
  now(): number
}

/** The request for a run of any tool, whoever asks for it. */
export async function makeRun(
  { entry, program, given, options, dryRun, workflow: loaded }: WantedRun,
  where: Where,
): Promise<MadeRun> {
  if (!loaded)
    return {
      request: {
        ...(await makeRequest(newRunId(), entry, program, given, options, where)),
        ...(dryRun && { dry_run: true as const }),
      },
    }
  const { cwd, env, now } = where
  const { timeout, answers, typedAnswers, surroundings, caller } = options
  const [{ makeWorkflowRequest }, { workflowSubject }] = await Promise.all([
    import('../../workflow/run/make-workflow-request.ts'),
    import('../../workflow/run/workflow-subject.ts'),
  ])
  const request = makeWorkflowRequest(newRunId(), loaded.workflow, given.input ?? {}, {
    cwd,
    env,
    timeout,
    file: loaded.file,
    caller,
    ...(answers && { answers }),
    ...(typedAnswers && { typedAnswers }),
    ...(surroundings && { surroundings }),
  })
  return {
    request,
    start: (paths, asked, registry) =>
      workflowSubject({ paths, request: asked, registry, env, now }),
  }
}
