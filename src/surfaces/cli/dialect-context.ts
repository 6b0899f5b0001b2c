import type { DialectContext } from '../../contract/dialects/dialect.ts'
import type { Io } from '../../contract/io.ts'

/** What a writer of dialects has to know of a call: the run that a runner has started, else one of its own. */
export function dialectContext({ env, now }: Io, tool: string, input?: unknown): DialectContext {
  return {
    tool,
    runId:
      env['RUN_ID'] ??
      `r-${Math.floor(Math.random() * 2 ** 40)
        .toString(16)
        .padStart(10, '0')}`,
    ...(env['TRACE_ID'] && { traceId: env['TRACE_ID'] }),
    now: () => new Date(now()).toISOString(),
    input,
  }
}
