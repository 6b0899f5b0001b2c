import { isUtf8 } from 'node:buffer'
import type { ToolEvent } from '../../contract/events.ts'
import { isObject } from '../../contract/json.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { shorten } from '../../contract/shorten.ts'
import type { Answer, AnswerRules, ChildOutput } from './answer/answer.ts'
import { parseForeign, roundedNumber } from './answer/parse-json.ts'
import { readEnvelope } from './answer/read-envelope.ts'
import { readEvent } from './answer/read-event.ts'
import { isOk, readExit } from './answer/read-exit.ts'
import { splitDocuments } from './answer/split-documents.ts'

const LONGEST_LINE = 2000
const MOST_LINES = 200

/** Reads what a child left behind, in whatever form it answers. Pure; never throws; a failure of the tool is a failed outcome. */
export function readAnswer(output: ChildOutput, rules: AnswerRules): Answer {
  const { value, events = [], warnings = [] } = readOutput(output.stdout, rules)
  const envelope =
    rules.expects === 'verbatim' ? undefined : readEnvelope(value, output.status ?? undefined)
  const hasFailed =
    !isOk(output) || envelope?.ok === false || (value === undefined && rules.mustAnswer)
  if (hasFailed) return { outcome: readExit(output, value, envelope), events }
  return {
    outcome: withWarnings(
      envelope ?? {
        ok: true,
        status: 'success',
        result: value ?? (rules.expects === 'json' ? null : ''),
        meta: { tool: '', duration_ms: 0 },
      },
      warnings,
    ),
    events,
  }
}

/** What an output says. `value` is undefined where it says nothing; warnings are about a value that is not quite what was written. */
type Read = {
  readonly value?: unknown
  readonly events?: readonly ToolEvent[]
  readonly warnings?: readonly string[]
}

function readOutput(stdout: Buffer, { expects }: AnswerRules): Read {
  const text = stdout.toString('utf8').replace(/^\uFEFF/, '')
  const read = readText(text, expects)
  const typed = typeof read.value === 'object' && read.value !== null
  const rounded = typed ? roundedNumber(text) : undefined
  const warnings = [
    ...(isUtf8(stdout)
      ? []
      : ['the answer is not UTF-8; what could not be read is shown as \uFFFD']),
    ...(rounded === undefined
      ? []
      : [
          `${rounded} has more digits than a number can hold here; the tool should send it as text`,
        ]),
    ...(read.warnings ?? []),
  ]
  return { ...read, warnings }
}

function readText(text: string, expects: AnswerRules['expects']): Read {
  const whole = text.trim()
  if (whole === '') return expects === 'json' || text === '' ? {} : { value: withoutNewline(text) }
  const document = readWhole(whole, expects)
  if (document) return { value: document.value, ...(document.mended && { warnings: [MENDED] }) }
  const read = expects === 'verbatim' ? undefined : readDocuments(whole, expects)
  return read ?? { value: withoutNewline(text) }
}

// A text that is a number or a word of JSON means what it says only where JSON was promised, and where nothing of it is lost.
function readWhole(text: string, expects: AnswerRules['expects']): ReturnType<typeof parseForeign> {
  const parsed = parseForeign(text)
  if (!parsed || (typeof parsed.value === 'object' && parsed.value !== null)) return parsed
  const isKept = typeof parsed.value !== 'number' || String(parsed.value) === text
  return expects === 'json' && isKept ? parsed : undefined
}

function readDocuments(text: string, expects: AnswerRules['expects']): Read | undefined {
  if (!/^[[{]/m.test(text)) return undefined
  const { documents, lines, endsInDocument, mended } = splitDocuments(text)
  const last = documents.at(-1)
  if (!endsInDocument || (lines.length > 0 && !isAnswerBehindLines(last, expects))) return undefined
  const events = lines.length === 0 ? [] : [...lines.slice(-MOST_LINES).map(logLine), MIXED]
  const warnings = mended ? [MENDED] : []
  if (readEnvelope(last, undefined))
    return {
      value: last,
      events: [...events, ...documents.slice(0, -1).map(tellDocument)],
      warnings,
    }
  if (documents.length === 1) return { value: last, events, warnings }
  return {
    value: documents,
    events,
    warnings: [
      ...warnings,
      `the tool answered with ${documents.length} JSON documents; the result is their list`,
    ],
  }
}

// Before an envelope stand the events of a stream, or a log that is written as JSON.
function tellDocument(document: unknown): ToolEvent {
  return (isObject(document) ? readEvent(document) : undefined) ?? logLine(JSON.stringify(document))
}

// A note like `[1]` at the end of a text is no answer.
function isAnswerBehindLines(document: unknown, expects: AnswerRules['expects']): boolean {
  return (
    isObject(document) || (expects === 'json' && Array.isArray(document) && document.some(isObject))
  )
}

const MENDED = 'the answer held NaN or Infinity, which JSON cannot carry; they are null'
const MIXED: ToolEvent = {
  type: 'log',
  level: 'warn',
  message: 'the tool prints other lines beside its answer on stdout; they belong on stderr',
}

function withWarnings(outcome: Outcome, warnings: readonly string[]): Outcome {
  return warnings.length === 0
    ? outcome
    : {
        ...outcome,
        meta: { ...outcome.meta, warnings: [...(outcome.meta.warnings ?? []), ...warnings] },
      }
}

function logLine(line: string): ToolEvent {
  return { type: 'log', level: 'debug', message: shorten(line, LONGEST_LINE) }
}

function withoutNewline(text: string): string {
  return text.replace(/\r?\n$/, '')
}
