import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { isLive } from '../../runner/folder/lock.ts'
import { findRun } from '../../runner/folder/open-run.ts'
import { recover } from '../../runner/folder/recover.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { followLines } from '../../runner/log/follow-lines.ts'
import { readBatches } from '../../runner/log/read-log.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { redirectStrayOutput } from '../../surfaces/cli/stray-output.ts'
import { hasNoFolder } from '../../runner/folder/has-no-folder.ts'
import { followRun } from './follow-run.ts'
import { openPrinter } from './line-printer.ts'
import type { LinePrinter } from './line-printer.ts'

type Input = {
  readonly run: string
  readonly follow?: boolean
  readonly stderr?: boolean
  readonly type?: readonly string[]
  readonly since?: number
  readonly config?: string
}

const CANCELLED = 130

/** Prints the record of a run; gives the exit status, which says nothing of the run. */
export async function printLogs(
  { run, follow = false, stderr = false, type, since = 1, config }: Input,
  context: BuiltinContext,
): Promise<number> {
  const { io, host } = context
  host.prepareForTools(redirectStrayOutput)
  const root = findRunsFolder(io.cwd, config)
  await recover(root)
  const light = hasNoFolder(root, run)
    ? await (await import('../../workflow/run/open-light.ts')).openLight(root, run)
    : undefined
  const paths = light ? undefined : findRun(root, run)
  const printer = openPrinter(context, { everything: type !== undefined })
  // Tools inside a program have no stderr of their own.
  if (stderr) await (paths && printStderr(paths, follow, printer, host.signal))
  else {
    for await (const events of !paths
      ? light!.events({ follow, signal: host.signal })
      : follow
        ? followRun(root, paths, host.signal)
        : readBatches(paths.events, { signal: host.signal })) {
      await printer.events(
        events.filter(
          (event) => event.seq >= since && (type === undefined || type.includes(event.type)),
        ),
      )
      if (printer.closed) break
    }
  }
  await io.stdout.flush()
  return host.signal.aborted ? CANCELLED : 0
}

async function printStderr(
  paths: RunPaths,
  follow: boolean,
  printer: LinePrinter,
  signal: AbortSignal,
): Promise<void> {
  for await (const lines of followLines(paths.stderr, {
    follow,
    signal,
    isComplete: () => !isLive(paths),
    withTail: true,
  })) {
    await printer.text(paths.id, 'stderr', lines)
    if (printer.closed) return
  }
}
