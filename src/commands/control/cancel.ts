import { writeFile } from 'node:fs/promises'
import { isOver } from '../../contract/run-state.ts'
import type { RunState } from '../../contract/run-state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { isLive } from '../../runner/folder/lock.ts'
import { untilThere } from '../../runner/until-there.ts'
import { hasNoFolder } from '../../runner/folder/has-no-folder.ts'
import { lookUp } from './look-up.ts'

type Where = { readonly cwd: string; readonly signal: AbortSignal; readonly env: { readonly [name: string]: string | undefined } }

/** Puts the cancel file into the folder of a run, which its runner waits for, and waits until it is over. A run that waits for its next attempt can be cancelled too. */
export async function cancelRun({ run, wait = true, ...where }: { readonly run: string; readonly wait?: boolean; readonly config?: string }, { cwd, signal, env }: Where): Promise<{ readonly run_id: string; readonly state: RunState }> {
  const root = findRunsFolder(cwd, where.config)
  const light = hasNoFolder(root, run) ? await (await import('../workflow/cancel-light.ts')).cancelLight(root, run, { wait, config: where.config }, { cwd, signal, env }) : undefined
  if (light) return light
  const { paths, request, summary: { state }, live } = await lookUp(cwd, { run, ...where })
  if (request.command === 'workflow' && isOver(state) && !live && state !== 'completed') {
    const { cancelLeft } = await import('../workflow/cancel-left.ts')
    if (await cancelLeft(paths, request, { env, signal })) return { run_id: paths.id, state: (await lookUp(cwd, { run: paths.id, ...where })).summary.state }
  }
  if (isOver(state) && !live) throw new ToolError('PRECONDITION', `${paths.id} is over: it is ${state}`, { field: 'run', suggestion: `toolable runs show ${paths.id}` })
  await writeFile(paths.cancel, '', { mode: 0o600 })
  if (!wait) return { run_id: paths.id, state }
  const isGone = await untilThere(paths.folder, signal, async () => (isLive(paths) ? undefined : true))
  if (isGone === undefined) throw new ToolError('CANCELLED', 'nobody waits for the end of the run any more')
  // Its runner may have died before it could tell.
  const { summary: { state: ended } } = await lookUp(cwd, { run: paths.id, ...where })
  return { run_id: paths.id, state: ended }
}
