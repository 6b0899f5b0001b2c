import type { RunState } from '../../contract/run-state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { openRun } from '../../runner/folder/open-run.ts'
import { readSummary } from '../../runner/summary/read-summary.ts'
import { requestCancel } from '../../workflow/engines/embedded/light/cancel-requests.ts'
import { followExecution } from '../../workflow/engines/embedded/light/follow-execution.ts'
import { lightPaths } from '../../workflow/engines/embedded/light/light-paths.ts'
import { adoptHere } from './adopt-here.ts'
import { cancelLeft, takeBackHere } from './cancel-left.ts'
import type { TakeBack } from './cancel-left.ts'
import { findLight } from '../../workflow/run/open-light.ts'

type Where = {
  readonly cwd: string
  readonly signal: AbortSignal
  readonly env: { readonly [name: string]: string | undefined }
}
type Cancelled = { readonly run_id: string; readonly state: RunState }

/** Cancels an execution that has no folder of its own: the process that has it is asked to, and one that nobody has becomes a run here, which takes back what was done. Undefined where there is none, or it is a run of its own. */
export async function cancelLight(
  root: string,
  id: string,
  {
    wait,
    reason,
    config,
    takeBack,
  }: {
    readonly wait: boolean
    readonly reason?: string | undefined
    readonly config?: string | undefined
    readonly takeBack?: TakeBack | undefined
  },
  where: Where,
): Promise<Cancelled | undefined> {
  const paths = lightPaths(root)
  for (let asked = false; ; asked = true) {
    const found = await findLight(root, id)
    if (!found) return undefined
    const {
      execution: { state, ended, error },
      listed,
    } = found
    if (ended !== undefined && asked) return { run_id: id, state }
    if (ended !== undefined)
      throw new ToolError('PRECONDITION', `${id} is over: it is ${state}`, {
        field: 'run',
        suggestion: `toolable runs show ${id}`,
      })
    if (error) {
      const cancelled = await cancelOrphan(
        root,
        id,
        { reason, config, takeBack: takeBack ?? takeBackHere(where) },
        where,
      )
      if (cancelled) return cancelled
      continue
    }
    const withdraw = requestCancel(paths, id, reason ?? 'cancelled by toolable cancel')
    if (!wait) return { run_id: id, state }
    for await (const _ of followExecution(paths, listed, { follow: true, signal: where.signal }));
    if (where.signal.aborted)
      throw new ToolError('CANCELLED', 'nobody waits for the end of the run any more')
    // It may have ended by itself before the request was seen.
    withdraw()
  }
}

// Undefined where somebody has taken it up meanwhile.
async function cancelOrphan(
  root: string,
  id: string,
  {
    reason,
    config,
    takeBack,
  }: {
    readonly reason: string | undefined
    readonly config: string | undefined
    readonly takeBack: TakeBack
  },
  { cwd, env }: Where,
): Promise<Cancelled | undefined> {
  try {
    await adoptHere(root, id, config === undefined ? {} : { config }, { cwd, env })
  } catch (error) {
    if (ToolError.is(error) && error.code === 'CONFLICT') return undefined
    throw error
  }
  const { paths, request } = openRun(root, id)
  await cancelLeft(paths, request, reason, takeBack)
  return { run_id: id, state: (await readSummary(paths, request)).state }
}
