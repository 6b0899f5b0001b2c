/**
 * Reads what a child printed: one JSON document, several, JSON between other lines, or text.
 */

import { isUtf8 } from 'node:buffer'
import type { ToolEvent } from '../../protocol/events.ts'
import type { Outcome } from '../../protocol/outcome.ts'
import { shorten } from '../../util/text.ts'
import { compact, isObject } from '../../util/values.ts'
import { readEvent } from './events.ts'
import { isSuccessStatus, readEnvelope, readExitFailure } from './exit.ts'
import type { AnswerRules, ChildAnswer, ChildOutput } from './exit.ts'

const MAX_LOG_LINE_LENGTH = 2000
const MAX_LOG_LINES = 200

/**
 * Reads what a child left behind, in whatever form it answers. Pure; never throws; a failure of the
 * tool is a failed outcome.
 */
export function readAnswer(output: ChildOutput, rules: AnswerRules): ChildAnswer {
  const { value, events = [], warnings = [] } = parseOutput(output.stdout, rules)
  const envelope =
    rules.expects === 'verbatim' ? undefined : readEnvelope(value, output.status ?? undefined)
  const hasFailed =
    !isSuccessStatus(output) || envelope?.ok === false || (value === undefined && rules.mustAnswer)
  if (hasFailed) return { outcome: readExitFailure(output, value, envelope), events }
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

/**
 * What an output says. `value` is undefined where it says nothing; warnings are about a value that
 * is not quite what was written.
 */
type ParsedOutput = {
  readonly value?: unknown
  readonly events?: readonly ToolEvent[]
  readonly warnings?: readonly string[]
}

function parseOutput(stdout: Buffer, { expects }: AnswerRules): ParsedOutput {
  const text = stdout.toString('utf8').replace(/^\uFEFF/, '')
  const read = parseOutputText(text, expects)
  const typed = typeof read.value === 'object' && read.value !== null
  const rounded = typed ? findRoundedNumber(text) : undefined
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

function parseOutputText(text: string, expects: AnswerRules['expects']): ParsedOutput {
  const whole = text.trim()
  if (whole === '')
    return expects === 'json' || text === '' ? {} : { value: trimFinalNewline(text) }
  const document = parseWholeDocument(whole, expects)
  if (document)
    return {
      value: document.value,
      ...compact({ warnings: document.mended ? [NAN_WARNING] : undefined }),
    }
  const read = expects === 'verbatim' ? undefined : parseDocuments(whole, expects)
  return read ?? { value: trimFinalNewline(text) }
}

// A text that is a number or a word of JSON means what it says only where JSON was promised, and
// where nothing of it is lost.
function parseWholeDocument(
  text: string,
  expects: AnswerRules['expects'],
): ReturnType<typeof parseLenientJson> {
  const parsed = parseLenientJson(text)
  if (!parsed || (typeof parsed.value === 'object' && parsed.value !== null)) return parsed
  const isKept = typeof parsed.value !== 'number' || String(parsed.value) === text
  return expects === 'json' && isKept ? parsed : undefined
}

function parseDocuments(text: string, expects: AnswerRules['expects']): ParsedOutput | undefined {
  if (!/^[[{]/m.test(text)) return undefined
  const { documents, lines, endsInDocument, mended } = splitDocuments(text)
  const last = documents.at(-1)
  if (!endsInDocument || (lines.length > 0 && !isAnswerAfterLines(last, expects))) return undefined
  const events =
    lines.length === 0 ? [] : [...lines.slice(-MAX_LOG_LINES).map(toLogEvent), MIXED_OUTPUT_EVENT]
  const warnings = mended ? [NAN_WARNING] : []
  if (readEnvelope(last, undefined))
    return {
      value: last,
      events: [...events, ...documents.slice(0, -1).map(toDocumentEvent)],
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
function toDocumentEvent(document: unknown): ToolEvent {
  return (
    (isObject(document) ? readEvent(document) : undefined) ?? toLogEvent(JSON.stringify(document))
  )
}

// A note like `[1]` at the end of a text is no answer.
function isAnswerAfterLines(document: unknown, expects: AnswerRules['expects']): boolean {
  return (
    isObject(document) || (expects === 'json' && Array.isArray(document) && document.some(isObject))
  )
}

const NAN_WARNING = 'the answer held NaN or Infinity, which JSON cannot carry; they are null'
const MIXED_OUTPUT_EVENT: ToolEvent = {
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

function toLogEvent(line: string): ToolEvent {
  return { type: 'log', level: 'debug', message: shorten(line, MAX_LOG_LINE_LENGTH) }
}

function trimFinalNewline(text: string): string {
  return text.replace(/\r?\n$/, '')
}

/**
 * What stands in an output: the JSON objects and lists that begin a line, the lines that are
 * something else, and whether a document is the last thing said.
 */
type SplitOutput = {
  readonly documents: readonly unknown[]
  readonly lines: readonly string[]
  readonly endsInDocument: boolean
  readonly mended: boolean
}

/**
 * Finds the JSON documents of an output, wherever other lines stand between them. The time grows
 * with the text and no faster: brackets that are opened and never closed are given up on.
 */
export function splitDocuments(text: string): SplitOutput {
  const documents: unknown[] = []
  const lines: string[] = []
  let endsInDocument = false
  let mended = false
  let budget = text.length * 4 + 10_000
  let at = 0
  while (at < text.length) {
    const scan = scanDocument(text, at, budget)
    budget -= scan.end - at
    const parsed = scan.closed ? parseLenientJson(text.slice(at, scan.end)) : undefined
    if (parsed) {
      documents.push(parsed.value)
      mended ||= parsed.mended === true
      endsInDocument = true
      at = skipSpace(text, scan.end)
      continue
    }
    const lineEnd = text.indexOf('\n', at)
    const next = lineEnd === -1 ? text.length : lineEnd + 1
    const line = text.slice(at, next).trimEnd()
    if (line.trim() !== '') {
      lines.push(line)
      endsInDocument = false
    }
    at = next
  }
  return { documents, lines, endsInDocument, mended }
}

type DocumentScan = { readonly closed: boolean; readonly end: number }

// Only brackets and strings are looked at; whether it is JSON is for the parser to say.
function scanDocument(text: string, start: number, budget: number): DocumentScan {
  if (text[start] !== '{' && text[start] !== '[') return { closed: false, end: start }
  const last = Math.min(text.length, start + budget)
  let depth = 0
  for (let at = start; at < last; at += 1) {
    const character = text[at]
    if (character === '"') {
      const end = findStringEnd(text, at + 1, last)
      if (end === undefined) return { closed: false, end: at }
      at = end
    } else if (character === '{' || character === '[') depth += 1
    else if ((character === '}' || character === ']') && --depth === 0)
      return { closed: true, end: at + 1 }
  }
  return { closed: false, end: last }
}

// A string of JSON never goes beyond its line, so that a stray quote costs no more than a line.
function findStringEnd(text: string, start: number, last: number): number | undefined {
  for (let at = start; at < last; at += 1) {
    const character = text[at]
    if (character === '\\') at += 1
    else if (character === '"') return at
    else if (character === '\n') return undefined
  }
  return undefined
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (at < text.length && text[at]!.trim() === '') at += 1
  return at
}

const NON_JSON_NUMBER = /"(?:[^"\\\n]|\\.)*"|-?\b(?:NaN|Infinity)\b/g

/**
 * JSON as foreign programs write it: `NaN` and `Infinity`, which Python writes though JSON has
 * none, are null. Undefined for what is no JSON.
 */
export function parseLenientJson(
  text: string,
): { readonly value: unknown; readonly mended?: true } | undefined {
  const strict = parseStrictJson(text)
  if (strict || !/NaN|Infinity/.test(text)) return strict
  const mended = parseStrictJson(
    text.replace(NON_JSON_NUMBER, (token) => (token.startsWith('"') ? token : 'null')),
  )
  return mended && { ...mended, mended: true }
}

/**
 * A whole number in a JSON text that is not the same any more when it is parsed; undefined where
 * there is none.
 */
function findRoundedNumber(text: string): string | undefined {
  if (!/\d{16}/.test(text)) return undefined
  for (const [token] of text.matchAll(/"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*/g)) {
    // Beyond 300 digits nothing is kept, and BigInt takes its time.
    if (
      /^-?\d{16,}$/.test(token) &&
      (token.length > 300 || BigInt(token) !== BigInt(Number(token)))
    )
      return token.slice(0, 40)
  }
  return undefined
}

function parseStrictJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}
