import type { Outcome } from '../../../contract/outcome.ts'
import type { OutputMode } from '../../../define/flags/injected.ts'
import { toEnvelope, toErrorEnvelope } from './envelope.ts'
import type { FormatOptions, Printed } from './format-options.ts'
import { toJsonText } from './json-text.ts'

/** An outcome as it is printed: the envelope in `json jsonl yaml toon`, the bare result in `text md csv`, where everything else goes to stderr in words. */
export async function formatOutcome(outcome: Outcome, options: FormatOptions): Promise<Printed> {
  return WRITERS[options.mode](outcome, options)
}

/** True for the modes that print the envelope. */
export function printsEnvelope(mode: OutputMode): boolean {
  return mode === 'json' || mode === 'jsonl' || mode === 'yaml' || mode === 'toon'
}

type Writer = (outcome: Outcome, options: FormatOptions) => Printed | Promise<Printed>

const WRITERS: { readonly [mode in OutputMode]: Writer } = {
  json: (outcome, options) =>
    withErrorLine(
      outcome,
      options,
      `${toJsonText(toEnvelope(outcome, options.renderInput), options.pretty ? 2 : undefined)}\n`,
    ),
  jsonl: writeJsonLines,
  yaml: async (outcome, options) =>
    withErrorLine(
      outcome,
      options,
      await (await import('./documents.ts')).toYamlText(toEnvelope(outcome, options.renderInput)),
    ),
  toon: async (outcome, options) =>
    withErrorLine(
      outcome,
      options,
      await (await import('./documents.ts')).toToonText(toEnvelope(outcome, options.renderInput)),
    ),
  // Agents read envelopes: their calls do not load what draws tables.
  text: async (outcome, options) => (await import('./bare.ts')).writeText(outcome, options),
  md: async (outcome, options) => (await import('./bare.ts')).writeMarkdown(outcome, options),
  csv: async (outcome, options) => (await import('./bare.ts')).writeCsv(outcome, options),
}

function withErrorLine(outcome: Outcome, { renderInput }: FormatOptions, stdout: string): Printed {
  return {
    stdout,
    stderr: outcome.ok
      ? ''
      : `${toJsonText({ error: toErrorEnvelope(outcome.error, renderInput) })}\n`,
  }
}

// Bare items leave no room for what the envelope says besides; where there is something to say, it goes to stderr as one line.
function writeJsonLines(outcome: Outcome, options: FormatOptions): Printed {
  const envelope = toEnvelope(outcome, options.renderInput)
  if (!outcome.ok || !Array.isArray(outcome.result))
    return withErrorLine(outcome, options, `${toJsonText(envelope)}\n`)
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
