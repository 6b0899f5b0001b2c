import { findRunsFolder } from '../../runner/folder/find-runs-folder.ts'
import { openRun } from '../../runner/folder/open-run.ts'
import { recover } from '../../runner/folder/recover.ts'
import { readLog } from '../../runner/log/read-log.ts'
import { exportTrace } from '../../runner/trace/export-trace.ts'
import type { BuiltinContext } from '../../surfaces/builtin/builtin.ts'
import { redirectStrayOutput } from '../../surfaces/cli/stray-output.ts'

type Input = {
  readonly run: string
  readonly format?: 'otlp'
  readonly endpoint?: string
  readonly config?: string
}

/** Prints the spans of a run, or sends them where the caller says; gives the exit status. */
export async function exportRecord(
  { run, endpoint, config }: Input,
  { io, host }: BuiltinContext,
): Promise<number> {
  host.prepareForTools(redirectStrayOutput)
  const root = findRunsFolder(io.cwd, config)
  await recover(root)
  const { paths, request } = openRun(root, run)
  const traces = await exportTrace(request, readLog(paths.events, { signal: host.signal }))
  if (endpoint === undefined) io.stdout.write(`${JSON.stringify(traces)}\n`)
  else {
    const { sendTrace } = await import('../../runner/trace/send-trace.ts')
    await sendTrace(endpoint, traces, host.signal)
    io.stdout.write(
      `${JSON.stringify({ run_id: paths.id, spans: traces.resourceSpans[0].scopeSpans[0].spans.length, endpoint })}\n`,
    )
  }
  await io.stdout.flush()
  return 0
}
