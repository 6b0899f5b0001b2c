/**
 * Writes Markdown in which text from authors means nothing but itself: escaping, code, lists,
 * frontmatter, and placeholders that agents would fill in.
 */

import { cleanText } from '../cli/formats/terminal-text.ts'
import { ELLIPSIS } from '../util/text.ts'

// Single backticks around something without backticks: code in the sense of whoever wrote the text.
const CODE_SPAN = /(?<![`\\])`(?!`)([^`\n]+)`(?!`)/g

/**
 * A text as Markdown on one line: what looks like code stays code, everything else is shown as it
 * was written.
 */
export function toInline(text: string): string {
  let out = ''
  let last = 0
  for (const { 0: span, 1: inside = '', index } of text.matchAll(CODE_SPAN)) {
    if (inside.trim() === '') continue
    out += escapeText(text.slice(last, index)) + toCode(inside)
    last = index + span.length
  }
  // An exclamation mark before a tick is a command to some loaders, and here it can only end a text
  // before code.
  return (out + escapeText(text.slice(last))).replace(/!(?=`)/g, '&#33;')
}

/**
 * A text as code. Undisturbed by backticks in it; a text that loaders would act upon is written as
 * words.
 */
export function toCode(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  if (line.trim() === '') return ''
  if (hasPlaceholder(line)) return escapeText(line)
  const runs = [...line.matchAll(/`+/g)].map(([run]) => run.length)
  let ticks = 1
  while (runs.includes(ticks)) ticks++
  // A space on both sides is not shown. Without it a text could run into the ticks, and `!` before
  // a tick is a command to some loaders.
  const pad = /^[ `]|[ `!]$/.test(line) ? ' ' : ''
  return `${'`'.repeat(ticks)}${pad}${line}${pad}${'`'.repeat(ticks)}`
}

/**
 * Lines of a text as Markdown that begins no list, heading or quotation of its own; empty lines
 * stay.
 */
export function toParagraphs(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeLineStart(toInline(line.trim())))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** One line as a paragraph. */
export function toParagraph(text: string): string {
  return escapeLineStart(toInline(text))
}

/** Words that are neither code nor Markdown: a comment in a command line. */
export function toComment(text: string): string {
  return escapeWordPlaceholders(text)
}

// A backslash means itself except before punctuation and at the end, where something of ours may
// follow. Underscores inside words never mean emphasis.
function escapeText(text: string): string {
  return escapeMarkdownPlaceholders(
    text
      .replace(
        /\\(?=[!-/:-@[-`{-~]|$)|[|`*<>[\]~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|(?<=^|\s)@(?=\S)/g,
        '\\$&',
      )
      .replace(/&(?=#?\w+;)/g, '&amp;'),
  )
}

function escapeLineStart(line: string): string {
  return line
    .replace(/^(?:#{1,6}(?=\s|$)|[-+](?=\s|$)|-{2,}|={1,})/, '\\$&')
    .replace(/^(\d+)([.)])(?=\s|$)/, '$1\\$2')
}

/** A block of code whose fence is longer than any in it. */
export function formatFence(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const ticks = '`'.repeat(longest + 1)
  return `${ticks}${language}\n${text.replace(/\n+$/, '')}\n${ticks}`
}

/** A value as a block of JSON: in one line where it is short. */
export function formatJsonBlock(value: unknown): string {
  const line = toSafeJson(value)
  return formatFence('json', line.length <= 100 ? line : toSafeJson(value, 2))
}

/** A part of a document that may be missing. */
export type OptionalText = string | false | undefined

/** The parts that exist and are not empty. */
export function pickTexts(parts: readonly OptionalText[]): string[] {
  return parts.filter((part): part is string => typeof part === 'string' && part !== '')
}

/** Blocks with an empty line between them; what is empty is left out. */
export function joinBlocks(blocks: readonly OptionalText[]): string {
  return pickTexts(blocks).join('\n\n')
}

/** A heading above blocks; nothing when there are none. */
export function formatTitled(
  level: number,
  title: string,
  blocks: readonly OptionalText[],
): string {
  const body = joinBlocks(blocks)
  return body === '' ? '' : `${'#'.repeat(level)} ${title}\n\n${body}`
}

/** A list of points, each on one line; what is missing is left out. */
export function formatBullets(lines: readonly OptionalText[]): string {
  return pickTexts(lines)
    .map((line) => `- ${line}`)
    .join('\n')
}

type FrontmatterValue = string | boolean | { readonly [key: string]: string }

// Words that some version of YAML takes for something else than text.
const YAML_KEYWORDS = /^(?:y|n|yes|no|on|off|true|false|null)$/

/**
 * The YAML head of a Markdown file. Every value stands on one line, so that readers that know
 * little YAML read it too.
 */
export function formatFrontmatter(fields: {
  readonly [key: string]: FrontmatterValue | undefined
}): string {
  const lines = Object.entries(fields).flatMap(([key, value]) => {
    if (value === undefined) return []
    if (typeof value !== 'object') return [`${key}: ${formatScalar(value)}`]
    return [
      `${key}:`,
      ...Object.entries(value).map(([inner, text]) => `  ${inner}: ${formatScalar(text)}`),
    ]
  })
  return `---\n${lines.join('\n')}\n---\n`
}

// A text in JSON is one in YAML too, whatever it holds. Two letters at the start are no number:
// `e0` is one to some.
function formatScalar(value: string | boolean): string {
  if (typeof value === 'boolean') return String(value)
  return /^[a-z]{2}[a-z0-9-]*$/.test(value) && !YAML_KEYWORDS.test(value)
    ? value
    : JSON.stringify(value)
}

/**
 * A text of an author without what no document can carry: control sequences, halves of characters,
 * byte order marks. Line breaks stay.
 */
export function tidyText(text: string): string {
  return cleanText(text.replace(/\r\n?/g, '\n').replaceAll('\t', '  '))
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/[\ufeff\ufffe\uffff]/g, '')
    .trim()
}

/** The same on one line. */
export function tidyLine(text: string): string {
  return tidyText(text).replace(/\s+/g, ' ')
}

/**
 * A text of at most so many characters, cut between words where there are words; `...` shows the
 * cut.
 */
export function truncateText(text: string, longest: number): string {
  if (text.length <= longest) return text
  const room = longest - ELLIPSIS.length
  const head = text.slice(0, room + 1)
  const space = head.lastIndexOf(' ')
  const cut = space >= room / 2 ? head.slice(0, space) : truncateUnspaced(text, room)
  return `${cut.replace(/[\s,;:.(-]+$/, '')}${ELLIPSIS}`
}

// Some scripts put no spaces between words, and a character may be several code units long.
function truncateUnspaced(text: string, room: number): string {
  return takeSegments(text, 'word', room) || takeSegments(text, 'grapheme', room)
}

// Making one takes longer than using it.
const segmenters: { word?: Intl.Segmenter; grapheme?: Intl.Segmenter } = {}

function takeSegments(text: string, granularity: 'word' | 'grapheme', room: number): string {
  let end = 0
  const segmenter = (segmenters[granularity] ??= new Intl.Segmenter('en', { granularity }))
  for (const { index, segment } of segmenter.segment(text.slice(0, room * 2))) {
    if (index + segment.length > room) break
    end = index + segment.length
  }
  return text.slice(0, end)
}

// Claude Code reads skills and commands as plain text before it shows them to a model, code and
// fences included: it runs what stands in backticks
// behind an exclamation mark, and fills `$1`, `$ARGUMENTS` and `${…}`. A document must mean what it
// says, so these never stand there by accident.
const PLACEHOLDERS = /!(?=`)|\$(?=ARGUMENTS|\d|\{)/g

/**
 * A command line in which nothing is taken for a placeholder. Such characters stand in single
 * quotes, where a closed and opened quote means nothing.
 */
export function escapeCommandPlaceholders(line: string): string {
  return line.replace(PLACEHOLDERS, "$&''")
}

/** The same for words that nobody pastes. */
export function escapeWordPlaceholders(text: string): string {
  return text.replace(PLACEHOLDERS, '$& ')
}

/** The same for Markdown text, which shows an entity as its character. */
function escapeMarkdownPlaceholders(text: string): string {
  return text.replace(PLACEHOLDERS, (character) => `&#${character.charCodeAt(0)};`)
}

/** The same within the strings of JSON. */
function escapeJsonPlaceholders(json: string): string {
  return json.replace(PLACEHOLDERS, toUnicodeEscape)
}

/** True where a text has to be changed to be calm. */
function hasPlaceholder(text: string): boolean {
  return text.search(PLACEHOLDERS) >= 0
}

/** `\u0021`. */
function toUnicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

// What cannot be seen, what turns text around, and halves of characters.
const UNSAFE_CHARACTERS =
  /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff]|\p{Surrogate}/gu

/**
 * JSON that says all it holds and that nobody takes for something else; it is parsed as the same
 * value.
 */
export function toSafeJson(value: unknown, indent?: number): string {
  return escapeJsonPlaceholders(
    (JSON.stringify(value, undefined, indent) ?? 'null').replace(
      UNSAFE_CHARACTERS,
      toUnicodeEscape,
    ),
  )
}

// Names that Windows keeps for devices, whatever ending follows.
const RESERVED_DEVICE_NAMES = /^(?:con|prn|aux|nul|com\d|lpt\d)$/
const MAX_SLUG_CHARS = 60

/**
 * File names for texts: lower-case ASCII, no two alike, none of the given ones, usable on every
 * system.
 */
export function createSlugger(...reserved: readonly string[]): (text: string) => string {
  const taken = new Set(reserved)
  return (text) => {
    const plain = text
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, MAX_SLUG_CHARS)
      .replace(/-+$/, '')
    const base = RESERVED_DEVICE_NAMES.test(plain) ? `${plain}-commands` : plain || 'other'
    let slug = base
    for (let count = 2; taken.has(slug); count++) slug = `${base}-${count}`
    taken.add(slug)
    return slug
  }
}

/** The name of a skill or an agent: lower-case letters, digits and single hyphens, at most 64. */
export function toSkillName(program: string): string {
  return program.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '') || 'tools'
}
