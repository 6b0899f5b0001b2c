/**
 * Reads what a child printed: one JSON document, several, JSON between other lines, or text.
 */

import { isUtf8 } from 'node:buffer'
import type { ToolEvent } from '../../protocol/events.ts'
import type { Outcome } from '../../protocol/outcome.ts'
import { shorten } from '../../util/text.ts'
import { isObject, tryParseJson } from '../../util/values.ts'
import { readEvent } from './events.ts'
import type { AnswerRules, ChildOutput } from './exit.ts'
import { EMPTY_META, isSuccessStatus, readEnvelope, readExitFailure } from './exit.ts'

const MAX_LOG_LINE_LENGTH = 2000
const MAX_LOG_LINES = 200

/**
 * Reads what a child printed, in any form that tools use. Pure; never throws; a failure of the tool
 * is a failed outcome.
 */
export function readAnswer(
  output: ChildOutput,
  rules: AnswerRules,
): { readonly outcome: Outcome; readonly events: readonly ToolEvent[] } {
  const { value, events = [], warnings } = parseOutput(output.stdout, rules.expects)
  const envelope =
    rules.expects === 'verbatim' ? undefined : readEnvelope(value, output.status ?? undefined)
  const hasFailed =
    !isSuccessStatus(output) || envelope?.ok === false || (value === undefined && rules.mustAnswer)
  if (hasFailed) return { outcome: readExitFailure(output, value, envelope), events }
  const result = value ?? (rules.expects === 'json' ? null : '')
  const outcome: Outcome = envelope ?? { ok: true, status: 'success', result, meta: EMPTY_META }
  if (warnings.length === 0) return { outcome, events }
  const meta = { ...outcome.meta, warnings: [...(outcome.meta.warnings ?? []), ...warnings] }
  return { outcome: { ...outcome, meta }, events }
}

/** `value` is undefined where nothing was printed. Warnings say how it differs from the text. */
type ParsedOutput = {
  readonly value?: unknown
  readonly events?: readonly ToolEvent[]
  readonly warnings: readonly string[]
}

function parseOutput(stdout: Buffer, expects: AnswerRules['expects']): ParsedOutput {
  const text = stdout.toString('utf8').replace(/^\uFEFF/, '')
  const parsed = parseOutputText(text, expects)
  const isStructured = typeof parsed.value === 'object' && parsed.value !== null
  const rounded = isStructured ? findRoundedNumber(text) : undefined
  const warnings: string[] = []
  if (!isUtf8(stdout))
    warnings.push('the answer is not UTF-8; what could not be read is shown as \uFFFD')
  if (rounded !== undefined)
    warnings.push(
      `${rounded} has more digits than a number can hold here; the tool should send it as text`,
    )
  return { ...parsed, warnings: [...warnings, ...parsed.warnings] }
}

function parseOutputText(text: string, expects: AnswerRules['expects']): ParsedOutput {
  const whole = text.trim()
  if (text === '' || (whole === '' && expects === 'json')) return { warnings: [] }
  const document = parseWholeDocument(whole, expects)
  if (document) return { value: document.value, warnings: document.mended ? [NAN_WARNING] : [] }
  const documents = expects === 'verbatim' ? undefined : parseDocuments(whole, expects)
  return documents ?? { value: text.replace(/\r?\n$/, ''), warnings: [] }
}

// A number or a word is JSON only where JSON was promised, and where no digit of it is lost.
function parseWholeDocument(
  text: string,
  expects: AnswerRules['expects'],
): LenientJson | undefined {
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
  const events = lines.slice(-MAX_LOG_LINES).map(toLogEvent)
  if (lines.length > 0) events.push(MIXED_OUTPUT_EVENT)
  const warnings = mended ? [NAN_WARNING] : []
  if (readEnvelope(last, undefined)) {
    events.push(...documents.slice(0, -1).map(toDocumentEvent))
    return { value: last, events, warnings }
  }
  if (documents.length === 1) return { value: last, events, warnings }
  warnings.push(
    `the tool answered with ${documents.length} JSON documents; the result is their list`,
  )
  return { value: documents, events, warnings }
}

// Before an envelope come the events of a stream, or a log that is written as JSON.
function toDocumentEvent(document: unknown): ToolEvent {
  const event = isObject(document) ? readEvent(document) : undefined
  return event ?? toLogEvent(JSON.stringify(document))
}

// A note like `[1]` at the end of a text is no answer.
function isAnswerAfterLines(document: unknown, expects: AnswerRules['expects']): boolean {
  if (isObject(document)) return true
  return expects === 'json' && Array.isArray(document) && document.some(isObject)
}

const NAN_WARNING = 'the answer held NaN or Infinity, which JSON cannot carry; they are null'
const MIXED_OUTPUT_EVENT: ToolEvent = {
  type: 'log',
  level: 'warn',
  message: 'the tool prints other lines beside its answer on stdout; they belong on stderr',
}

function toLogEvent(line: string): ToolEvent {
  return { type: 'log', level: 'debug', message: shorten(line, MAX_LOG_LINE_LENGTH) }
}

/**
 * Finds the JSON objects and lists of an output that begin a line, and the lines between them. Takes
 * linear time: brackets that are opened and never closed are given up on.
 */
export function splitDocuments(text: string) {
  const documents: unknown[] = []
  const lines: string[] = []
  let endsInDocument = false
  let mended = false
  let budget = text.length * 4 + 10_000
  let at = 0
  while (at < text.length) {
    const { isClosed, end } = scanDocument(text, at, budget)
    budget -= end - at
    const parsed = isClosed ? parseLenientJson(text.slice(at, end)) : undefined
    if (parsed) {
      documents.push(parsed.value)
      mended ||= parsed.mended
      endsInDocument = true
      at = skipSpace(text, end)
      continue
    }
    const lineEnd = text.indexOf('\n', at)
    const next = lineEnd === -1 ? text.length : lineEnd + 1
    const line = text.slice(at, next).trimEnd()
    if (line !== '') {
      lines.push(line)
      endsInDocument = false
    }
    at = next
  }
  return { documents, lines, endsInDocument, mended }
}

// Only brackets and strings are looked at; the parser decides whether it is JSON.
function scanDocument(text: string, start: number, budget: number) {
  if (text[start] !== '{' && text[start] !== '[') return { isClosed: false, end: start }
  const last = Math.min(text.length, start + budget)
  let depth = 0
  for (let at = start; at < last; at += 1) {
    const character = text[at]
    if (character === '"') {
      const end = findStringEnd(text, at + 1, last)
      if (end === undefined) return { isClosed: false, end: at }
      at = end
    } else if (character === '{' || character === '[') depth += 1
    else if ((character === '}' || character === ']') && --depth === 0)
      return { isClosed: true, end: at + 1 }
  }
  return { isClosed: false, end: last }
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

type LenientJson = { readonly value: unknown; readonly mended: boolean }

/**
 * Parses JSON as Python writes it: `NaN` and `Infinity`, which JSON does not have, become null.
 * Returns undefined for text that is not JSON.
 */
export function parseLenientJson(text: string): LenientJson | undefined {
  const strict = tryParseJson(text)
  if (strict !== undefined) return { value: strict, mended: false }
  if (!/NaN|Infinity/.test(text)) return undefined
  const value = tryParseJson(
    text.replace(NON_JSON_NUMBER, (token) => (token.startsWith('"') ? token : 'null')),
  )
  return value === undefined ? undefined : { value, mended: true }
}

/** Finds an integer in a JSON text that changes when it is parsed. */
function findRoundedNumber(text: string): string | undefined {
  if (!/\d{16}/.test(text)) return undefined
  for (const [token] of text.matchAll(/"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*/g)) {
    if (!/^-?\d{16,}$/.test(token)) continue
    // No number of 300 digits is kept, and BigInt takes long to read one.
    if (token.length > 300 || BigInt(token) !== BigInt(Number(token))) return token.slice(0, 40)
  }
  return undefined
}
