import { ToolError } from '../../contract/tool-error.ts'
import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { listRuns } from '../../runner/folder/list-runs.ts'
import { isLive } from '../../runner/folder/lock.ts'
import { openRun } from '../../runner/folder/open-run.ts'
import { recover } from '../../runner/folder/recover.ts'
import { exitStatusOf } from '../../runner/summary/exit-status.ts'
import { startSummary } from '../../runner/summary/summarize.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { redirectStrayOutput } from '../../surfaces/cli/stray-output.ts'
import { followRun } from './follow-run.ts'
import { openPrinter } from './line-printer.ts'
import type { LinePrinter } from './line-printer.ts'

type Input = { readonly run?: readonly string[]; readonly all?: boolean; readonly since?: number; readonly config?: string }
type Opened = ReturnType<typeof openRun>

const CANCELLED = 130

/** Prints the events of runs until they are over; gives the status of the first that did not complete. */
export async function watchRuns({ run = [], all = false, since = 1, config }: Input, context: BuiltinContext): Promise<number> {
  const { io, host } = context
  if ((run.length > 0) === all) throw new ToolError('USAGE', 'name the runs to watch, or give --all', { suggestion: 'toolable watch latest' })
  host.prepareForTools(redirectStrayOutput)
  const root = findRunsFolder(io.cwd, config)
  await recover(root)
  const opened = all ? listRuns(root).filter(({ paths }) => isLive(paths)).reverse().map(({ id }) => openRun(root, id)) : run.map((word) => openRun(root, word))
  const printer = openPrinter(context, { named: opened.length > 1 })
  const statuses = await Promise.all(opened.map((one) => watchOne(root, one, since, printer, host.signal)))
  await io.stdout.flush()
  return host.signal.aborted ? CANCELLED : (statuses.find((status) => status !== 0) ?? 0)
}

async function watchOne(root: string, { paths, request }: Opened, since: number, printer: LinePrinter, signal: AbortSignal): Promise<number> {
  const summary = startSummary(request)
  for await (const events of followRun(root, paths, signal)) {
    for (const event of events) summary.add(event)
    await printer.events(events.filter(({ seq }) => seq >= since))
    if (printer.closed) break
  }
  return exitStatusOf(summary.current())
}
