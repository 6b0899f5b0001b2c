import type { DialectContext } from '../../contract/dialects/dialect.ts'
import { loadWriter } from '../../contract/dialects/load.ts'
import { exitCodeOf } from '../../contract/errors.ts'
import type { InputOrigin } from '../../contract/errors.ts'
import type { Io } from '../../contract/io.ts'
import type { ErrorObject, Outcome } from '../../contract/outcome.ts'
import type { Presentation } from './mode.ts'
import type { Observer } from './observer.ts'
import { toEnvelope } from './output/envelope.ts'
import type { RenderInput } from './output/envelope.ts'
import type { RenderResult } from './output/format-options.ts'
import { toJsonText } from './output/json-text.ts'
import { formatOutcome } from './output/print.ts'

export type Printing = {
  readonly io: Io
  readonly presentation: Presentation
  readonly context: DialectContext
  /** The call printed events on stdout; the outcome is their last line. */
  readonly streamed: boolean
  readonly quiet: boolean
  readonly renderInput?: RenderInput | undefined
  readonly renderResult?: RenderResult | undefined
  readonly observer?: Observer | undefined
}

/** Prints an outcome in the chosen mode and dialect; stdout has left the process when it resolves. */
export async function printOutcome(
  outcome: Outcome,
  { io, presentation, context, streamed, quiet, renderInput, renderResult, observer }: Printing,
): Promise<void> {
  const { mode, dialect } = presentation
  observer?.onOutcome(toEnvelope(outcome, renderInput) as Outcome, { mode, dialect, streamed })
  // Whoever asked has left: a failure because of that is told to nobody.
  if (io.stdout.closed && !outcome.ok && outcome.error.code === 'CANCELLED') return
  const writer = await loadWriter(dialect)
  if (dialect === 'native' && !streamed) {
    const printed = await formatOutcome(outcome, { ...presentation, renderInput, renderResult })
    io.stdout.write(printed.stdout)
    if (!quiet || !outcome.ok) io.stderr.write(printed.stderr)
  } else {
    // Events and foreign dialects carry the repaired call as text too. The envelope is an outcome in fixed order, with nothing that may not be seen.
    const complete = toEnvelope(outcome, renderInput) as Outcome
    const documents = streamed
      ? writer.streamEnd(complete, context)
      : writer.outcome(complete, context)
    for (const document of documents) io.stdout.write(`${toJsonText(document)}\n`)
    const line = complete.ok ? undefined : writer.errorLine(complete.error)
    if (line) io.stderr.write(`${toJsonText(line)}\n`)
  }
  await io.stdout.flush()
}

/** The process exit status of an outcome. */
export function exitStatus(outcome: Outcome, origin: InputOrigin): number {
  return outcome.ok ? 0 : exitCodeOf(outcome.error, origin)
}

/** The outcome of something that failed before a tool ran. */
export function failedOutcome(error: ErrorObject, tool: string, version: string): Outcome {
  return { ok: false, status: 'error', error, meta: { tool, version, duration_ms: 0 } }
}
