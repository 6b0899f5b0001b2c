import { calmMarkdown, calmWords, isTouchy } from '../model/touchy.ts'

// Single backticks around something without backticks: code in the sense of whoever wrote the text.
const CODE = /(?<![`\\])`(?!`)([^`\n]+)`(?!`)/g

/** A text as Markdown on one line: what looks like code stays code, everything else is shown as it was written. */
export function inline(text: string): string {
  let out = ''
  let last = 0
  for (const { 0: span, 1: inside = '', index } of text.matchAll(CODE)) {
    if (inside.trim() === '') continue
    out += escapeText(text.slice(last, index)) + code(inside)
    last = index + span.length
  }
  // An exclamation mark before a tick is a command to some loaders, and here it can only end a text before code.
  return (out + escapeText(text.slice(last))).replace(/!(?=`)/g, '&#33;')
}

/** A text as code. Undisturbed by backticks in it; a text that loaders would act upon is written as words. */
export function code(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  if (line.trim() === '') return ''
  if (isTouchy(line)) return escapeText(line)
  const runs = [...line.matchAll(/`+/g)].map(([run]) => run.length)
  let ticks = 1
  while (runs.includes(ticks)) ticks++
  // A space on both sides is not shown. Without it a text could run into the ticks, and `!` before a tick is a command to some loaders.
  const pad = /^[ `]|[ `!]$/.test(line) ? ' ' : ''
  return `${'`'.repeat(ticks)}${pad}${line}${pad}${'`'.repeat(ticks)}`
}

/** Lines of a text as Markdown that begins no list, heading or quotation of its own; empty lines stay. */
export function paragraphs(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeLineStart(inline(line.trim())))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** One line as a paragraph. */
export function paragraph(text: string): string {
  return escapeLineStart(inline(text))
}

/** Words that are neither code nor Markdown: a comment in a command line. */
export function comment(text: string): string {
  return calmWords(text)
}

// A backslash means itself except before punctuation and at the end, where something of ours may follow. Underscores inside words never mean emphasis.
function escapeText(text: string): string {
  return calmMarkdown(
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
