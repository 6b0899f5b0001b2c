import { rm } from 'node:fs/promises'
import { ToolError } from '../../contract/tool-error.ts'
import { claim } from '../../runner/folder/lock.ts'
import { readRequest } from '../../runner/folder/open-run.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { writeAtomically } from '../../runner/folder/write-atomically.ts'
import type { RunOptions } from '../../runner/make-request.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import { readSummary } from '../../runner/summary/read-summary.ts'
import { lookUp } from './look-up.ts'

/** Makes a run that failed or was cancelled ready for its next attempt, which this process has to perform or to hand over; what is said anew is written down. Throws CONFLICT where somebody else goes on with it, PRECONDITION where there is nothing to go on with. */
export async function claimToResume(
  run: string,
  { timeout, heartbeatGrace, retries, allowLevel, answers, typedAnswers, secrets }: RunOptions,
  { cwd, config }: { readonly cwd: string; readonly config?: string | undefined },
): Promise<{ readonly paths: RunPaths; readonly request: RunRequest }> {
  const { paths } = await lookUp(cwd, { run, ...(config !== undefined && { config }) })
  // Ours before anything is changed: of two who resume it one gets it, and the other changes nothing.
  const letGo = claim(paths)
  const request = readRequest(paths)
  try {
    await checkUnfinished(paths, request)
  } catch (error) {
    letGo()
    throw error
  }
  const changed: RunRequest = {
    ...request,
    ...(timeout !== undefined && { timeout_s: timeout }),
    ...(heartbeatGrace !== undefined && { heartbeat_grace_s: heartbeatGrace }),
    ...(retries !== undefined && { retries }),
    ...(allowLevel && { allow_level: allowLevel }),
    ...(secrets && { secrets: { ...request.secrets, ...secrets } }),
    ...(answers && { answers: { ...request.answers, ...answers } }),
    ...(typedAnswers && {
      typed_answers: [...new Set([...(request.typed_answers ?? []), ...typedAnswers])],
    }),
  }
  writeAtomically(paths.request, `${JSON.stringify(changed, undefined, 2)}\n`)
  // The wish to end it belonged to the attempt before.
  await rm(paths.cancel, { force: true })
  return { paths, request: changed }
}

async function checkUnfinished(paths: RunPaths, request: RunRequest): Promise<void> {
  const { state, error } = await readSummary(paths, request)
  if (state === 'completed')
    throw new ToolError('PRECONDITION', `${paths.id} is completed: there is nothing to resume`, {
      suggestion: `toolable runs show ${paths.id}`,
    })
  if (request.command === 'workflow')
    await (
      await import('../../workflow/run/check-resumable.ts')
    ).checkResumable(paths, { state, code: error?.code })
}
