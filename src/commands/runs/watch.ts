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
import { hasNoFolder } from '../../runner/folder/has-no-folder.ts'
import type { LightRun } from '../../workflow/run/open-light.ts'
import { followRun } from './follow-run.ts'
import { openPrinter } from './line-printer.ts'
import type { LinePrinter } from './line-printer.ts'

type Input = { readonly run?: readonly string[]; readonly all?: boolean; readonly since?: number; readonly config?: string }
type Opened = ReturnType<typeof openRun> | LightRun

const CANCELLED = 130

/** Prints the events of runs until they are over; gives the status of the first that did not complete. */
export async function watchRuns({ run = [], all = false, since = 1, config }: Input, context: BuiltinContext): Promise<number> {
  const { io, host } = context
  if ((run.length > 0) === all) throw new ToolError('USAGE', 'name the runs to watch, or give --all', { suggestion: 'toolable watch latest' })
  host.prepareForTools(redirectStrayOutput)
  const root = findRunsFolder(io.cwd, config)
  await recover(root)
  const opened = all ? listRuns(root).filter(({ paths }) => isLive(paths)).reverse().map(({ id }) => openRun(root, id)) : await Promise.all(run.map((word) => openAny(root, word)))
  const printer = openPrinter(context, { named: opened.length > 1 })
  const statuses = await Promise.all(opened.map((one) => watchOne(root, one, since, printer, host.signal)))
  await io.stdout.flush()
  return host.signal.aborted ? CANCELLED : (statuses.find((status) => status !== 0) ?? 0)
}

async function openAny(root: string, word: string): Promise<Opened> {
  return (hasNoFolder(root, word) ? await (await import('../../workflow/run/open-light.ts')).openLight(root, word) : undefined) ?? openRun(root, word)
}

async function watchOne(root: string, opened: Opened, since: number, printer: LinePrinter, signal: AbortSignal): Promise<number> {
  const { request } = opened
  const summary = startSummary(request)
  for await (const events of 'events' in opened ? opened.events({ follow: true, signal }) : followRun(root, opened.paths, signal)) {
    for (const event of events) summary.add(event)
    await printer.events(events.filter(({ seq }) => seq >= since))
    if (printer.closed) break
  }
  // What its program left goes on as a run, which tells it from its beginning.
  if ('events' in opened && !isOver(summary.current().state) && !printer.closed && !signal.aborted) return watchOne(root, await openAny(root, request.run_id), since, printer, signal)
  return exitStatusOf(summary.current())
}
