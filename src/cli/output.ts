/**
 * Prints the outcome of a call in the format of `formats/table.ts` that the caller chose.
 */

import type { InputOrigin } from '../protocol/errors.ts'
import { toExitCode } from '../protocol/errors.ts'
import type { Io } from '../protocol/io.ts'
import type { Outcome } from '../protocol/outcome.ts'
import type { DialectContext } from '../protocol/output-protocols.ts'
import { loadDialectWriter } from '../protocol/output.ts'
import type {
  FormatOptions,
  FormattedOutcome,
  InputRenderer,
  ResultRenderer,
} from './formats/envelope.ts'
import { toEnvelope } from './formats/envelope.ts'
import { toJsonText } from './formats/json-text.ts'
import { format as formatJson } from './formats/json.ts'
import type { OutputMode } from './formats/table.ts'
import { OUTPUT_FORMATS } from './formats/table.ts'
import type { Presentation } from './presentation.ts'
import type { CommandObserver } from './types.ts'

type PrintOutcomeOptions = {
  readonly io: Io
  readonly presentation: Presentation
  readonly context: DialectContext
  /** The call printed events on stdout; the outcome is their last line. */
  readonly streamed: boolean
  readonly quiet: boolean
  readonly renderInput?: InputRenderer | undefined
  readonly renderResult?: ResultRenderer | undefined
  readonly observer?: CommandObserver | undefined
}

/**
 * Prints an outcome in the chosen mode and dialect; stdout has left the process when it resolves.
 */
export async function printOutcome(
  outcome: Outcome,
  {
    io,
    presentation,
    context,
    streamed,
    quiet,
    renderInput,
    renderResult,
    observer,
  }: PrintOutcomeOptions,
): Promise<void> {
  const { mode, dialect } = presentation
  observer?.onOutcome(toEnvelope(outcome, renderInput) as Outcome, { mode, dialect, streamed })
  // A caller that closed stdout knows that it cancelled the call.
  if (io.stdout.closed && !outcome.ok && outcome.error.code === 'CANCELLED') return
  if (dialect === 'native' && !streamed) {
    const printed = await formatOutcome(outcome, { ...presentation, renderInput, renderResult })
    io.stdout.write(printed.stdout)
    if (!quiet || !outcome.ok) io.stderr.write(printed.stderr)
    return io.stdout.flush()
  }
  const writer = await loadDialectWriter(dialect)
  // Events and other dialects carry the repaired call as text too. The envelope is an outcome in
  // fixed order, without hidden parts.
  const complete = toEnvelope(outcome, renderInput) as Outcome
  const documents = streamed
    ? writer.streamEnd(complete, context)
    : writer.outcome(complete, context)
  for (const document of documents) io.stdout.write(`${toJsonText(document)}\n`)
  const line = complete.ok ? undefined : writer.errorLine(complete.error)
  if (line) io.stderr.write(`${toJsonText(line)}\n`)
  await io.stdout.flush()
}

/** The process exit status of an outcome. */
export function getExitStatus(outcome: Outcome, origin: InputOrigin): number {
  return outcome.ok ? 0 : toExitCode(outcome.error, origin)
}

/** An outcome as it is printed in one of the output formats. */
export async function formatOutcome(
  outcome: Outcome,
  { mode, ...options }: FormatOptions & { readonly mode: OutputMode },
): Promise<FormattedOutcome> {
  // Most calls print JSON; loading it apart would cost each of them a file.
  if (mode === 'json') return formatJson(outcome, options)
  const { format } = await OUTPUT_FORMATS[mode].load()
  return format(outcome, options)
}

/** True for the modes that print the envelope. */
export function isEnvelopeMode(mode: OutputMode): boolean {
  return OUTPUT_FORMATS[mode].isEnvelope
}

/** What a dialect needs to know about a call. Without a runner, the call makes up its run id. */
export function createDialectContext(
  { env, now }: Io,
  tool: string,
  input?: unknown,
): DialectContext {
  return {
    tool,
    runId: env['RUN_ID'] ?? createRunId(),
    traceId: env['TRACE_ID'] || undefined,
    now: () => new Date(now()).toISOString(),
    input,
  }
}

function createRunId(): string {
  const number = Math.floor(Math.random() * 2 ** 40)
  return `r-${number.toString(16).padStart(10, '0')}`
}
