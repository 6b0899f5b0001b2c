/**
 * Prints the outcome of a call.
 *
 * `OUTPUT_FORMATS` lists the output formats. A new format is one file in `formats/` and one line in
 * that table.
 */

import type { OutputMode } from '../define/global-flags.ts'
import { toExitCode } from '../protocol/errors.ts'
import type { InputOrigin } from '../protocol/errors.ts'
import type { Io } from '../protocol/io.ts'
import type { ErrorObject, Outcome } from '../protocol/outcome.ts'
import type { DialectContext } from '../protocol/output-protocols.ts'
import { loadDialectWriter } from '../protocol/output.ts'
import { compact } from '../util/values.ts'
import { toEnvelope, toErrorEnvelope } from './envelope.ts'
import type { FormatOptions, FormattedOutcome, InputRenderer, ResultRenderer } from './envelope.ts'
import type { CommandObserver } from './host.ts'
import { toJsonText } from './json-text.ts'
import type { Presentation } from './presentation.ts'

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
  // Whoever asked has left: a failure because of that is told to nobody.
  if (io.stdout.closed && !outcome.ok && outcome.error.code === 'CANCELLED') return
  const writer = await loadDialectWriter(dialect)
  if (dialect === 'native' && !streamed) {
    const printed = await formatOutcome(outcome, { ...presentation, renderInput, renderResult })
    io.stdout.write(printed.stdout)
    if (!quiet || !outcome.ok) io.stderr.write(printed.stderr)
  } else {
    // Events and foreign dialects carry the repaired call as text too. The envelope is an outcome
    // in fixed order, with nothing that may not be seen.
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
export function getExitStatus(outcome: Outcome, origin: InputOrigin): number {
  return outcome.ok ? 0 : toExitCode(outcome.error, origin)
}

/** The outcome of something that failed before a tool ran. */
export function createFailureOutcome(error: ErrorObject, tool: string, version: string): Outcome {
  return { ok: false, status: 'error', error, meta: { tool, version, duration_ms: 0 } }
}

/**
 * An outcome as it is printed: the envelope in `json jsonl yaml toon`, the bare result in `text md
 * csv`, where everything else goes to stderr in words.
 */
export async function formatOutcome(
  outcome: Outcome,
  options: FormatOptions,
): Promise<FormattedOutcome> {
  return OUTPUT_FORMATS[options.mode](outcome, options)
}

/** True for the modes that print the envelope. */
export function isEnvelopeMode(mode: OutputMode): boolean {
  return mode === 'json' || mode === 'jsonl' || mode === 'yaml' || mode === 'toon'
}

type OutcomeFormatter = (
  outcome: Outcome,
  options: FormatOptions,
) => FormattedOutcome | Promise<FormattedOutcome>

const OUTPUT_FORMATS: { readonly [mode in OutputMode]: OutcomeFormatter } = {
  json: (outcome, options) =>
    addErrorLine(
      outcome,
      options,
      `${toJsonText(toEnvelope(outcome, options.renderInput), options.pretty ? 2 : undefined)}\n`,
    ),
  jsonl: formatJsonLines,
  yaml: async (outcome, options) =>
    addErrorLine(
      outcome,
      options,
      await (
        await import('./formats/yaml.ts')
      ).toYamlText(toEnvelope(outcome, options.renderInput)),
    ),
  toon: async (outcome, options) =>
    addErrorLine(
      outcome,
      options,
      await (
        await import('./formats/yaml.ts')
      ).toToonText(toEnvelope(outcome, options.renderInput)),
    ),
  // Agents read envelopes: their calls do not load what draws tables.
  text: async (outcome, options) =>
    (await import('./formats/text.ts')).formatTextOutcome(outcome, options),
  md: async (outcome, options) =>
    (await import('./formats/text.ts')).formatMarkdownOutcome(outcome, options),
  csv: async (outcome, options) =>
    (await import('./formats/text.ts')).formatCsvOutcome(outcome, options),
}

function addErrorLine(
  outcome: Outcome,
  { renderInput }: FormatOptions,
  stdout: string,
): FormattedOutcome {
  return {
    stdout,
    stderr: outcome.ok
      ? ''
      : `${toJsonText({ error: toErrorEnvelope(outcome.error, renderInput) })}\n`,
  }
}

// Bare items leave no room for what the envelope says besides; where there is something to say, it
// goes to stderr as one line.
function formatJsonLines(outcome: Outcome, options: FormatOptions): FormattedOutcome {
  const envelope = toEnvelope(outcome, options.renderInput)
  if (!outcome.ok || !Array.isArray(outcome.result))
    return addErrorLine(outcome, options, `${toJsonText(envelope)}\n`)
  const { meta } = outcome
  const notable =
    outcome.status === 'partial' ||
    outcome.message !== undefined ||
    outcome.content ||
    meta.dry_run ||
    meta.warnings ||
    meta.truncated ||
    meta.next_cursor !== undefined ||
    meta.artifacts
  const { result: _printed, ...rest } = envelope
  return {
    stdout: outcome.result.map((item) => `${toJsonText(item)}\n`).join(''),
    stderr: notable ? `${toJsonText(rest)}\n` : '',
  }
}

/**
 * What a writer of dialects has to know of a call: the run that a runner has started, else one of
 * its own.
 */
export function createDialectContext(
  { env, now }: Io,
  tool: string,
  input?: unknown,
): DialectContext {
  return {
    tool,
    runId:
      env['RUN_ID'] ??
      `r-${Math.floor(Math.random() * 2 ** 40)
        .toString(16)
        .padStart(10, '0')}`,
    ...compact({ traceId: env['TRACE_ID'] || undefined }),
    now: () => new Date(now()).toISOString(),
    input,
  }
}
