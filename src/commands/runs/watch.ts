import { isOver } from '../../contract/run-state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { listRuns } from '../../runner/folder/list-runs.ts'
import { isLive } from '../../runner/folder/lock.ts'
import { openRun } from '../../runner/folder/open-run.ts'
import { recover } from '../../runner/folder/recover.ts'
import { exitStatusOf } from '../../runner/summary/exit-status.ts'
import { startSummary } from '../../views/model/summary/summarize.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { redirectStrayOutput } from '../../surfaces/cli/stray-output.ts'
import { chooseProgress } from '../progress/progress-flag.ts'
import { hasNoFolder } from '../../runner/folder/has-no-folder.ts'
import { followRun } from './follow-run.ts'
import { openOnlooker } from './onlooker.ts'
import type { Onlooker, Watched } from './onlooker-type.ts'

type Input = {
  readonly run?: readonly string[]
  readonly all?: boolean
  readonly since?: number
  readonly progress?: string
  readonly config?: string
}

const CANCELLED = 130

/** Prints the events of runs until they are over; gives the status of the first that did not complete. */
export async function watchRuns(
  { run = [], all = false, since = 1, progress, config }: Input,
  context: BuiltinContext,
): Promise<number> {
  const { io, host, globals } = context
  if (run.length > 0 === all)
    throw new ToolError('USAGE', 'name the runs to watch, or give --all', {
      suggestion: 'toolable watch latest',
    })
  const chosen = chooseProgress(progress, globals, io)
  host.prepareForTools(redirectStrayOutput)
  const root = findRunsFolder(io.cwd, config)
  await recover(root)
  const opened = all
    ? listRuns(root)
        .filter(({ paths }) => isLive(paths))
        .reverse()
        .map(({ id }) => openRun(root, id))
    : await Promise.all(run.map((word) => openAny(root, word)))
  const onlooker = await openOnlooker(context, { progress: chosen, root, runs: opened, since })
  const statuses = await Promise.all(
    opened.map((one) => watchOne(root, one, onlooker, host.signal)),
  ).finally(onlooker.end)
  await io.stdout.flush()
  return host.signal.aborted ? CANCELLED : (statuses.find((status) => status !== 0) ?? 0)
}

async function openAny(root: string, word: string): Promise<Watched> {
  return (
    (hasNoFolder(root, word)
      ? await (await import('../../workflow/run/open-light.ts')).openLight(root, word)
      : undefined) ?? openRun(root, word)
  )
}

async function watchOne(
  root: string,
  opened: Watched,
  onlooker: Onlooker,
  signal: AbortSignal,
): Promise<number> {
  const { request } = opened
  const summary = startSummary(request)
  for await (const events of 'events' in opened
    ? opened.events({ follow: true, signal })
    : followRun(root, opened.paths, signal)) {
    for (const event of events) summary.add(event)
    await onlooker.see(opened, events)
    if (onlooker.closed) break
  }
  // What its program left goes on as a run, which tells it from its beginning.
  if ('events' in opened && !isOver(summary.current().state) && !onlooker.closed && !signal.aborted)
    return watchOne(root, await openAny(root, request.run_id), onlooker, signal)
  return exitStatusOf(summary.current())
}
