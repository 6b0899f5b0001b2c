import { isUtf8 } from 'node:buffer'
import type { ToolEvent } from '../../contract/events.ts'
import { isObject } from '../../contract/json.ts'
import { shorten } from '../../contract/shorten.ts'
import type { Answer, AnswerRules, ChildOutput } from './answer/answer.ts'
import { isOk, readExit } from './answer/read-exit.ts'
import { parseForeign } from './answer/parse-json.ts'
import { readEnvelope } from './answer/read-envelope.ts'
import { readEvent } from './answer/read-event.ts'
import { splitDocuments } from './answer/split-documents.ts'

const LONGEST_LINE = 2000
const MOST_LINES = 200

/** Reads what a child left behind, in whatever form it answers. Pure; never throws; a failure of the tool is a failed outcome. */
export function readAnswer(output: ChildOutput, rules: AnswerRules): Answer {
  const { value, events } = readOutput(output.stdout, rules)
  const envelope = rules.expects === 'verbatim' ? undefined : readEnvelope(value, output.status ?? undefined)
  if (!isOk(output) || envelope?.ok === false) return { outcome: readExit(output, value, envelope), events }
  if (envelope) return { outcome: envelope, events }
  if (value === undefined && rules.mustAnswer) return { outcome: readExit(output, value, undefined), events }
  return { outcome: { ok: true, status: 'success', result: value ?? (rules.expects === 'json' ? null : ''), meta: { tool: '', duration_ms: 0 } }, events }
}

type Read = { /** Undefined where nothing was said. */ readonly value?: unknown; readonly events: readonly ToolEvent[] }

function readOutput(stdout: Buffer, { expects }: AnswerRules): Read {
  const text = stdout.toString('utf8').replace(/^\uFEFF/, '')
  const events = isUtf8(stdout) ? [] : [warn('the answer is not UTF-8; what could not be read is shown as \uFFFD')]
  const whole = text.trim()
  if (whole === '') return { ...(expects !== 'json' && text !== '' && { value: withoutNewline(text) }), events }
  const document = readWhole(whole, expects)
  if (document) return { value: document.value, events: document.mended ? [...events, MENDED] : events }
  const read = expects === 'verbatim' ? undefined : readDocuments(whole, expects)
  return read ? { value: read.value, events: [...events, ...read.events] } : { value: withoutNewline(text), events }
}

// A text that is a number or a word of JSON means what it says only where JSON was promised, and where nothing of it is lost.
function readWhole(text: string, expects: AnswerRules['expects']): ReturnType<typeof parseForeign> {
  const parsed = parseForeign(text)
  if (!parsed || (typeof parsed.value === 'object' && parsed.value !== null)) return parsed
  const isKept = typeof parsed.value !== 'number' || String(parsed.value) === text
  return expects === 'json' && isKept ? parsed : undefined
}

function readDocuments(text: string, expects: AnswerRules['expects']): { readonly value: unknown; readonly events: readonly ToolEvent[] } | undefined {
  if (!/^[[{]/m.test(text)) return undefined
  const { documents, lines, endsInDocument, mended } = splitDocuments(text)
  const last = documents.at(-1)
  if (!endsInDocument || (lines.length > 0 && !isAnswerBehindLines(last, expects))) return undefined
  const noise = [...lines.slice(-MOST_LINES).map(logLine), ...(lines.length > 0 ? [MIXED] : []), ...(mended ? [MENDED] : [])]
  if (readEnvelope(last, undefined)) return { value: last, events: [...noise, ...documents.slice(0, -1).map(tellDocument)] }
  if (documents.length === 1) return { value: last, events: noise }
  return { value: documents, events: [...noise, warn(`the tool answered with ${documents.length} JSON documents; the result is their list`)] }
}

// Before an envelope stand the events of a stream, or a log that is written as JSON.
function tellDocument(document: unknown): ToolEvent {
  return (isObject(document) ? readEvent(document) : undefined) ?? logLine(JSON.stringify(document))
}

// A note like `[1]` at the end of a text is no answer.
function isAnswerBehindLines(document: unknown, expects: AnswerRules['expects']): boolean {
  return isObject(document) || (expects === 'json' && Array.isArray(document) && document.some(isObject))
}

const MIXED = warn('the tool prints other lines beside its answer on stdout; they belong on stderr')
const MENDED = warn('the answer holds NaN or Infinity, which JSON cannot carry; they are null')

function warn(message: string): ToolEvent {
  return { type: 'log', level: 'warn', message }
}

function logLine(line: string): ToolEvent {
  return { type: 'log', level: 'debug', message: shorten(line, LONGEST_LINE) }
}

function withoutNewline(text: string): string {
  return text.replace(/\r?\n$/, '')
}
