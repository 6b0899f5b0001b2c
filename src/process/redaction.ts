/**
 * Replaces secrets in text, JSON and byte streams. Each secret is searched in the encodings
 * programs usually print: escaped, percent-encoded, base64, hex, quoted.
 */

import { ToolError } from '../protocol/tool-error.ts'
import { isObject } from '../util/values.ts'

/**
 * Takes secrets out of whatever is written down or shown. Exact search in the usual encodings: what
 * a program makes of a secret in other ways is not found.
 */
export type Redactor = {
  /** True where there are no secrets; then everything comes back as it is, at no cost. */
  readonly isEmpty: boolean
  text(text: string): string
  /** The same for a JSON value, in its keys, texts and numbers. */
  value(json: unknown): unknown
  /** The same for the text of a JSON value, which stays JSON. */
  json(text: string): string
  /** For bytes that come in chunks. */
  stream(): RedactingStream
}

const EMPTY_REDACTOR: Redactor = {
  isEmpty: true,
  text: (text) => text,
  value: (json) => json,
  json: (text) => text,
  stream: () => ({ push: (chunk) => chunk, finish: () => Buffer.alloc(0) }),
}

/**
 * Makes a redactor of secrets. Throws CONFIG for one of less than 6 characters, which would be
 * found everywhere.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  if (secrets.length === 0) return EMPTY_REDACTOR
  if (secrets.some((secret) => secret.trim().length < MIN_SECRET_LENGTH))
    throw new ToolError(
      'CONFIG',
      `A secret has less than ${MIN_SECRET_LENGTH} characters and cannot be kept out of logs`,
      { suggestion: 'Use a longer secret' },
    )
  const finder = createPatternFinder(secrets.flatMap(listSecretVariants))
  const text = (given: string): string => {
    const bytes = Buffer.from(given)
    const found = finder.find(bytes)
    return found.length === 0 ? given : replaceRanges(bytes, found).toString()
  }
  const value = (given: unknown): unknown => {
    if (typeof given === 'string') return text(given)
    if (typeof given === 'number') return text(String(given)) === String(given) ? given : REDACTED
    if (Array.isArray(given)) return given.map(value)
    // fromEntries defines properties, also one that is called __proto__.
    return isObject(given)
      ? Object.fromEntries(Object.entries(given).map(([key, inner]) => [text(key), value(inner)]))
      : given
  }
  const json = (given: string): string =>
    finder.find(Buffer.from(given)).length === 0 ? given : JSON.stringify(value(JSON.parse(given)))
  return { isEmpty: false, text, value, json, stream: () => createRedactingStream(finder) }
}

/**
 * Takes secrets out of bytes that come in chunks, also where a chunk ends in the middle of one.
 * Only what may be the beginning of a secret is kept back.
 */
type RedactingStream = { push(chunk: Buffer): Buffer; finish(): Buffer }

const EMPTY_BUFFER = Buffer.alloc(0)

/** Begins a stream. */
function createRedactingStream(finder: PatternFinder): RedactingStream {
  let held = EMPTY_BUFFER
  // So many bytes of what is held belong to a secret that has its mark already.
  let covered = 0
  return {
    push(chunk) {
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      const ranges = finder.find(bytes)
      const safe = finder.findBeginning(bytes)
      if (ranges.length === 0 && safe === bytes.length && covered === 0) {
        held = EMPTY_BUFFER
        return bytes
      }
      const out = replaceRanges(bytes, ranges, safe, covered)
      const reach = findLastEnd(ranges, safe, covered)
      // A copy, so that a short rest does not keep a whole chunk in memory.
      held = Buffer.from(bytes.subarray(safe))
      covered = Math.max(0, reach - safe)
      return out
    },
    finish() {
      const out = replaceRanges(held, finder.find(held), held.length, covered)
      held = EMPTY_BUFFER
      covered = 0
      return out
    },
  }
}

/** Where what has its mark ends: the furthest end of the ranges that begin before `safe`. */
function findLastEnd(ranges: readonly number[], safe: number, covered: number): number {
  let reach = covered
  for (let index = 0; index < ranges.length && ranges[index]! < safe; index += 2)
    reach = Math.max(reach, ranges[index + 1]!)
  return reach
}

/** What stands where a secret stood. */
const REDACTED = '[REDACTED]'

const REDACTED_BYTES = Buffer.from(REDACTED)

/**
 * The bytes up to `end` with a mark in place of each range; the first `covered` bytes are left out
 * without one, because theirs stands already.
 */
function replaceRanges(
  bytes: Buffer,
  ranges: readonly number[],
  end = bytes.length,
  covered = 0,
): Buffer {
  const kept: Buffer[] = []
  let from = Math.min(covered, end)
  for (let index = 0; index < ranges.length && ranges[index]! < end; index += 2) {
    const start = ranges[index]!
    // A range that begins in what was left out goes on with it.
    if (start >= from) kept.push(bytes.subarray(from, start), REDACTED_BYTES)
    from = Math.max(from, ranges[index + 1]!)
  }
  if (from < end) kept.push(bytes.subarray(from, end))
  return Buffer.concat(kept)
}

/** Finds any of many patterns in bytes, in one pass. */
type PatternFinder = {
  /** Where patterns stand, overlaps joined: starts and ends in turn, in order. */
  find(bytes: Buffer): readonly number[]
  /**
   * The first place from which everything to the end is the beginning of a pattern; the length
   * where there is none.
   */
  findBeginning(bytes: Buffer): number
}

const BLOCK_BYTES = 3
const SHIFT_TABLE_SIZE = 0x40000
const START_TABLE_SIZE = 0x10000
/** So many slots may belong to patterns; with more of them a wider window moves less, not more. */
const MAX_FILLED_SLOTS = 0x4000

/**
 * Prepares the search for patterns of at least 6 bytes. The last three bytes of a window no longer
 * than the shortest pattern tell how far the window can move
 * without missing one (Wu and Manber), so that most bytes are never looked at and the number of
 * patterns hardly matters.
 */
function createPatternFinder(patterns: readonly Buffer[]): PatternFinder {
  const window = patterns.reduce(
    (least, pattern) => Math.min(least, pattern.length),
    Math.max(6, Math.min(255, Math.floor(MAX_FILLED_SLOTS / patterns.length))),
  )
  const longest = patterns.reduce((most, pattern) => Math.max(most, pattern.length), 0)
  const shifts = new Uint8Array(SHIFT_TABLE_SIZE).fill(window - BLOCK_BYTES + 1)
  const candidates = new Map<number, Buffer[]>()
  const startsWith = new Uint8Array(START_TABLE_SIZE)
  const starts = new Map<number, Buffer[]>()
  for (const pattern of patterns) {
    for (let at = BLOCK_BYTES - 1; at < window; at += 1) {
      const slot = hashBlock(pattern, at)
      shifts[slot] = Math.min(shifts[slot]!, window - 1 - at)
    }
    addToList(candidates, hashBlock(pattern, window - 1), pattern)
    const start = (pattern[0]! << 8) | pattern[1]!
    startsWith[start] = 1
    addToList(starts, start, pattern)
  }
  const firstBytes = new Uint8Array(256)
  for (const pattern of patterns) firstBytes[pattern[0]!] = 1

  return {
    find(bytes) {
      const found: number[] = []
      for (let at = window - 1; at < bytes.length;) {
        const slot = hashBlock(bytes, at)
        const shift = shifts[slot]!
        if (shift > 0) {
          at += shift
          continue
        }
        const start = at - window + 1
        let end = 0
        for (const pattern of candidates.get(slot)!)
          if (pattern.length > end - start && matchesAt(pattern, bytes, start))
            end = start + pattern.length
        if (end > 0) addRange(found, start, end)
        at += 1
      }
      return found
    },
    findBeginning(bytes) {
      const last = bytes.length - 1
      for (let at = Math.max(0, bytes.length - longest + 1); at < last; at += 1) {
        const start = (bytes[at]! << 8) | bytes[at + 1]!
        if (
          startsWith[start] === 1 &&
          starts
            .get(start)!
            .some((pattern) => pattern.length > bytes.length - at && startsAt(pattern, bytes, at))
        )
          return at
      }
      return last >= 0 && firstBytes[bytes[last]!] === 1 ? last : bytes.length
    },
  }
}

function hashBlock(bytes: Buffer, at: number): number {
  return Math.imul((bytes[at]! << 16) | (bytes[at - 1]! << 8) | bytes[at - 2]!, 0x9e3779b1) >>> 14
}

function addToList(lists: Map<number, Buffer[]>, key: number, pattern: Buffer): void {
  const list = lists.get(key)
  if (list) list.push(pattern)
  else lists.set(key, [pattern])
}

function matchesAt(pattern: Buffer, bytes: Buffer, start: number): boolean {
  return start + pattern.length <= bytes.length && startsAt(pattern, bytes, start)
}

function startsAt(pattern: Buffer, bytes: Buffer, start: number): boolean {
  const length = Math.min(pattern.length, bytes.length - start)
  for (let at = 0; at < length; at += 1) if (pattern[at] !== bytes[start + at]) return false
  return true
}

function addRange(found: number[], start: number, end: number): void {
  const lastEnd = found.at(-1) ?? -1
  if (start >= lastEnd) found.push(start, end)
  else if (end > lastEnd) found[found.length - 1] = end
}

/** Characters of the shortest secret; a shorter one would be found everywhere. */
export const MIN_SECRET_LENGTH = 6
/** Characters of a line of a secret that is worth looking for by itself. */
const MIN_SECRET_LINE_LENGTH = 8

/** Every form in which a secret may turn up in what a program writes, without repeats. */
function listSecretVariants(secret: string): readonly Buffer[] {
  const forms = new Map<string, Buffer>()
  for (const part of listSecretLines(secret)) {
    for (const form of [...listTextVariants(part), ...listBase64Variants(part)]) {
      const bytes = Buffer.from(form)
      forms.set(bytes.toString('latin1'), bytes)
    }
  }
  return [...forms.values()]
}

// A secret of several lines is often shown line by line, and its line feeds are often written as
// \n.
function listSecretLines(secret: string): readonly string[] {
  const whole = secret.trim()
  const lines = whole
    .split(/\r?\n|(?:\\r)?\\n/)
    .map((line) => line.trim())
    .filter((line) => line !== whole && line.length >= MIN_SECRET_LINE_LENGTH)
  return [whole, ...lines]
}

function listTextVariants(text: string): readonly string[] {
  const escaped = [
    escapeJson(text),
    escapeJson(text).replaceAll('/', '\\/'),
    escapeAsciiJson(text, false),
    escapeAsciiJson(text, true),
    ...HTML_SAFE_JSON.map(([characters, upper]) => escapeHtmlSafeJson(text, characters, upper)),
  ]
  const hex = Buffer.from(text).toString('hex')
  return [
    text,
    text.replaceAll('\n', '\r\n'),
    ...escaped,
    ...escaped.map(escapeJson),
    escapeAll(text, false),
    escapeAll(text, true),
    ...URL_SAFE_CHARACTERS.flatMap((kept) => [
      percentEncode(text, kept),
      lowerPercentCodes(percentEncode(text, kept)),
    ]),
    ...URL_SAFE_CHARACTERS.map((kept) => percentEncode(text, kept).replaceAll('%20', '+')),
    encodeURIComponent(percentEncode(text, URL_SAFE_CHARACTERS[0]!)),
    ...MARKUP_QUOTES.map(([double, single]) => escapeMarkup(text, double, single)),
    text.replaceAll("'", String.raw`'\''`),
    text.replaceAll("'", `'"'"'`),
    text.replaceAll("'", "''"),
    text.replaceAll("'", String.raw`\'`),
    text.replace(/["$`\\]/g, '\\$&'),
    text.replace(/[^A-Za-z0-9_./:@%+=,-]/g, '\\$&'),
    escapeJson(text)
      .replaceAll(String.raw`\"`, '"')
      .replaceAll("'", String.raw`\'`),
    hex,
    hex.toUpperCase(),
  ]
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function escapeAsciiJson(text: string, upper: boolean): string {
  return escapeJson(text).replace(/[\x7f-\uffff]/g, (unit) => unicodeEscape(unit, upper))
}

/**
 * What careful writers of JSON escape besides, so that it can stand in a page: Go and Ruby, PHP and
 * Django, .NET.
 */
const HTML_SAFE_JSON = [
  [/[<>&\u2028\u2029]/, false],
  [/[<>&]/, true],
  [/[<>&'"+`\x7f-\u{10ffff}]/u, true],
] as const

function escapeHtmlSafeJson(text: string, escaped: RegExp, upper: boolean): string {
  return text.replace(/[^]/gu, (character) =>
    escaped.test(character) ? escapeAll(character, upper) : escapeJson(character),
  )
}

function escapeAll(text: string, upper: boolean): string {
  return text.replace(/[^]/g, (unit) => unicodeEscape(unit, upper))
}

function unicodeEscape(unit: string, upper: boolean): string {
  const hex = unit.charCodeAt(0).toString(16).padStart(4, '0')
  return `\\u${upper ? hex.toUpperCase() : hex}`
}

/**
 * What writers of URLs leave as it is, besides letters and digits: by the standard,
 * encodeURIComponent, encodeURI, Python, forms.
 */
const URL_SAFE_CHARACTERS = ['-_.~', "-_.~!'()*", "-_.~!'()*;/?:@&=+$,#", '-_.~/', '-_.*']

function percentEncode(text: string, kept: string): string {
  return Buffer.from(text)
    .toString('latin1')
    .replace(/[^A-Za-z0-9]/g, (character) =>
      kept.includes(character)
        ? character
        : `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
}

function lowerPercentCodes(text: string): string {
  return text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
}

const MARKUP_QUOTES = [
  ['"', "'"],
  ['&quot;', "'"],
  ['&quot;', '&#39;'],
  ['&quot;', '&apos;'],
  ['&quot;', '&#x27;'],
  ['&#34;', '&#39;'],
] as const

function escapeMarkup(text: string, double: string, single: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', double)
    .replaceAll("'", single)
}

// What stands before a secret moves it against the groups of three bytes, and both ends mix with
// what is beside them; only what is between is always the same.
function listBase64Variants(text: string): readonly string[] {
  const bytes = Buffer.from(text)
  const standard = [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6))
  })
  const whole = bytes.toString('base64')
  const wrapped = [64, 76].flatMap((width) =>
    whole.length > width
      ? (whole.match(new RegExp(`.{${MIN_SECRET_LINE_LENGTH},${width}}`, 'g')) ?? [])
      : [],
  )
  return [...standard, whole, ...wrapped].flatMap((form) => [
    form,
    form.replaceAll('+', '-').replaceAll('/', '_'),
    form.replaceAll('/', '\\/'),
  ])
}
