import { collectCommands } from './commands.ts'
import type { HelpDocument } from './help-document.ts'
import { toLines } from './normalise.ts'
import { collectOptions } from './options.ts'
import type { Written } from './options.ts'
import type { Outline } from './outline.ts'
import { outlineOf } from './outline.ts'
import { collectPositionals } from './positionals.ts'
import { readUsage } from './usage.ts'
import { partUsages } from './usage-lines.ts'

const LONGEST_DESCRIPTION = 2000
const LONGEST_USAGE = 8000
const MOST_USAGES = 300

/** Reads any help text. Never throws; what is not understood is left out. Time grows with the length of the text only. */
export function readHelp(text: string): HelpDocument {
  return understandHelp(text).document
}

/** A help text with what only a caller of the program needs to know. */
export type UnderstoodHelp = {
  readonly document: HelpDocument
  readonly written: Written
  /** There is one usage line, so that arguments have one order. */
  readonly single: boolean
}

/** As `readHelp`, with how values are written. */
export function understandHelp(text: string): UnderstoodHelp {
  const outline = outlineOf(toLines(text))
  const listed = new Set(
    outline.flags.flatMap(({ head }) => head.specs.flatMap(({ names }) => names)),
  )
  const lines = partUsages(
    outline.usage.slice(0, MOST_USAGES).map((line) => readUsage(line)),
    (flag) => listed.size === 0 || listed.has(flag),
  )
  const usages = lines.own
  const lists =
    outline.synopses.length > 0
      ? [readUsage(outline.synopses.join(' ')).map((item) => ({ ...item, required: false }))]
      : []
  const commands = collectCommands(lines, outline.sections)
  const { options, written } = collectOptions(outline.flags, [...usages, ...lists])
  const document: HelpDocument = {
    usage: outline.usage.join('\n').slice(0, LONGEST_USAGE),
    description: describe(outline),
    // Others who know a program (its completions) count only a value that has to follow.
    options: options.map((option) =>
      option.valueOptional ? { ...option, takesValue: false } : option,
    ),
    positionals: collectPositionals(usages, outline.sections, commands.length > 0),
    commands,
  }
  return { document, written, single: usages.length === 1 }
}

/** The prose before the first list, or under a heading that says so. */
function describe({ sections }: Outline): string {
  for (const wanted of ['intro', 'about'] as const) {
    const rows = sections.filter(({ kind }) => kind === wanted).flatMap(({ rows: own }) => own)
    const paragraphs = rows
      .map(({ text }) => text.trim())
      .join('\n')
      .trim()
      .replace(/\n{2,}/g, '\n\n')
    if (paragraphs !== '')
      return paragraphs
        .replace(/(?<!\n)\n(?!\n)/g, ' ')
        .slice(0, LONGEST_DESCRIPTION)
        .trim()
  }
  return ''
}
