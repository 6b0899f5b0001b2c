import { writeFile } from 'node:fs/promises'
import { isOver } from '../../contract/run-state.ts'
import type { RunState } from '../../contract/run-state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { isLive } from '../../runner/folder/lock.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { openRun } from '../../runner/folder/open-run.ts'
import { recover } from '../../runner/folder/recover.ts'
import { readSummary } from '../../runner/summary/read-summary.ts'
import { untilThere } from '../../runner/until-there.ts'

type Where = { readonly cwd: string; readonly signal: AbortSignal }

/** Puts the cancel file into the folder of a run, which its runner waits for, and waits until it is over. */
export async function cancelRun({ run, wait = true, config }: { readonly run: string; readonly wait?: boolean; readonly config?: string }, { cwd, signal }: Where): Promise<{ readonly run_id: string; readonly state: RunState }> {
  const root = findRunsFolder(cwd, config)
  await recover(root)
  const { paths, request } = openRun(root, run)
  const { state } = await readSummary(paths, request)
  if (isOver(state)) throw new ToolError('PRECONDITION', `${paths.id} is over: it is ${state}`, { field: 'run', suggestion: `toolable runs show ${paths.id}` })
  await writeFile(paths.cancel, '', { mode: 0o600 })
  if (!wait) return { run_id: paths.id, state }
  const ended = await untilThere(paths.folder, signal, async () => {
    const now = await readSummary(paths, request)
    return isOver(now.state) && !isLive(paths) ? now.state : undefined
  })
  if (ended === undefined) throw new ToolError('CANCELLED', 'nobody waits for the end of the run any more')
  return { run_id: paths.id, state: ended }
}
