import { isOver } from '../../contract/run-state.ts'
import type { RunState } from '../../contract/run-state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { isLive } from '../../runner/folder/lock.ts'
import { writeAtomically } from '../../runner/folder/write-atomically.ts'
import { untilThere } from '../../runner/until-there.ts'
import { hasNoFolder } from '../../runner/folder/has-no-folder.ts'
import type { TakeBack } from '../workflow/cancel-left.ts'
import { lookUp } from './look-up.ts'

type Where = {
  readonly cwd: string
  readonly signal: AbortSignal
  readonly env: { readonly [name: string]: string | undefined }
}

/** Puts the cancel file into the folder of a run, which its runner waits for, and waits until it is over. A run that waits for its next attempt can be cancelled too. `takeBack` goes on with a workflow that nobody performs, so that it takes back what it did; default: this process does. */
export async function cancelRun(
  {
    run,
    wait = true,
    reason,
    ...where
  }: {
    readonly run: string
    readonly wait?: boolean
    readonly reason?: string
    readonly config?: string
  },
  { cwd, signal, env }: Where,
  takeBack?: TakeBack,
): Promise<{ readonly run_id: string; readonly state: RunState }> {
  const root = findRunsFolder(cwd, where.config)
  const light = hasNoFolder(root, run)
    ? await (
        await import('../workflow/cancel-light.ts')
      ).cancelLight(
        root,
        run,
        { wait, reason, config: where.config, takeBack },
        { cwd, signal, env },
      )
    : undefined
  if (light) return light
  const {
    paths,
    request,
    summary: { state },
    live,
  } = await lookUp(cwd, { run, ...where })
  if (request.command === 'workflow' && isOver(state) && !live && state !== 'completed') {
    const { cancelLeft, takeBackHere } = await import('../workflow/cancel-left.ts')
    if (await cancelLeft(paths, request, reason, takeBack ?? takeBackHere({ env, signal })))
      return {
        run_id: paths.id,
        state: (await lookUp(cwd, { run: paths.id, ...where })).summary.state,
      }
  }
  if (isOver(state) && !live)
    throw new ToolError('PRECONDITION', `${paths.id} is over: it is ${state}`, {
      field: 'run',
      suggestion: `toolable runs show ${paths.id}`,
    })
  writeAtomically(paths.cancel, reason === undefined ? '' : `${reason}\n`)
  if (!wait) return { run_id: paths.id, state }
  const isGone = await untilThere(paths.folder, signal, async () =>
    isLive(paths) ? undefined : true,
  )
  if (isGone === undefined)
    throw new ToolError('CANCELLED', 'nobody waits for the end of the run any more')
  // Its runner may have died before it could tell.
  const {
    summary: { state: ended },
  } = await lookUp(cwd, { run: paths.id, ...where })
  return { run_id: paths.id, state: ended }
}
