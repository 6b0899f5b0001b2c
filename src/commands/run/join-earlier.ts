import type { Io } from '../../contract/io.ts'
import { isLive } from '../../runner/folder/lock.ts'
import { followLines } from '../../runner/log/follow-lines.ts'
import { exitStatusOf } from '../../runner/summary/exit-status.ts'
import { readSummary } from '../../runner/summary/read-summary.ts'
import type { Globals } from '../../surfaces/cli/argv/globals.ts'
import { findCaller } from '../../surfaces/cli/caller.ts'
import type { Host } from '../../surfaces/cli/host.ts'
import { choosePresentation } from '../../surfaces/cli/mode.ts'
import { resumeRun } from '../control/resume.ts'
import type { ChosenProgress } from '../progress/progress-flag.ts'
import type { KeyedRun } from './claim-key.ts'
import type { RunFlags } from './request.ts'
import { openRunView } from './run-view.ts'

/** Answers from a run that was asked for before under the same key: its record from the beginning, until it is over; a workflow that was left goes on. Gives the exit status. */
export async function joinEarlier(
  { is, paths, request }: KeyedRun,
  {
    flags,
    progress,
  }: { readonly flags: RunFlags & { readonly config?: string }; readonly progress: ChosenProgress },
  io: Io,
  host: Host,
  globals: Globals,
): Promise<number> {
  const note =
    is === 'left'
      ? `${paths.id} was begun with the same idempotency key, and goes on`
      : `answered from an earlier run with the same idempotency key: ${paths.id}`
  if (!globals.quiet) io.stderr.write(`${note}\n`)
  if (is === 'left') return resumeRun(paths.id, flags, globals, io, host)
  if (flags.detach) return tellWhere({ is, paths, request }, note, io, globals)
  const view = await openRunView(
    { paths, request, io, globals, person: false, resumed: false },
    { progress, bare: false },
  )
  try {
    for await (const lines of followLines(paths.events, {
      follow: true,
      isComplete: () => !isLive(paths),
      signal: host.signal,
    }))
      await view.show(`${lines.join('\n')}\n`)
    await view.sumUp()
    return exitStatusOf(await readSummary(paths, request))
  } finally {
    await view.close()
  }
}

function tellWhere(
  { paths: { id, folder } }: KeyedRun,
  note: string,
  io: Io,
  globals: Globals,
): number {
  const result = {
    run_id: id,
    folder,
    watch: `toolable watch ${id}`,
    cancel: `toolable cancel ${id}`,
  }
  const asText = choosePresentation(globals, io, findCaller(io.env)).mode === 'text'
  io.stdout.write(
    asText
      ? `${id}; toolable watch ${id} shows it\n`
      : `${JSON.stringify({ ok: true, status: 'success', result, meta: { tool: 'toolable.run', run_id: id, duration_ms: 0, warnings: [note] } })}\n`,
  )
  return 0
}
