/**
 * Colours and symbols for a terminal, with plain ASCII where it has nothing else.
 */

import { cleanLine, createTextPainter } from '../../cli/formats/terminal-text.ts'
import { splitClusters } from '../../cli/formats/text-layout.ts'

/** What a colour stands for. It never stands alone: a symbol and a word say the same. */
export type ThemeRole = 'ok' | 'bad' | 'warn' | 'run' | 'dim' | 'accent'

/** How things are shown on this terminal. */
export type Theme = {
  readonly glyphs: Glyphs
  paint(role: ThemeRole, text: string): string
  /** Text of a tool on one line, harmless and in characters that this terminal has. */
  clean(text: string): string
}

const ROLE_STYLES = {
  ok: 'green',
  bad: 'red',
  warn: 'yellow',
  run: 'cyan',
  dim: 'dim',
  accent: 'bold',
} as const

/** The look for a terminal with or without colours and characters beyond ASCII. */
export function createTheme({
  color,
  unicode,
}: {
  readonly color: boolean
  readonly unicode: boolean
}): Theme {
  const style = createTextPainter(color)
  return {
    glyphs: unicode ? UNICODE_GLYPHS : ASCII_GLYPHS,
    paint: (role, text) => style(ROLE_STYLES[role], text),
    clean: unicode ? cleanLine : (text) => toAscii(cleanLine(text)),
  }
}

// As wide as it was, so that what is aligned stays so.
function toAscii(text: string): string {
  return /^[\x20-\x7e]*$/.test(text)
    ? text
    : splitClusters(text)
        .map((cluster) =>
          /^[\x20-\x7e]$/.test(cluster.text)
            ? cluster.text
            : (ASCII_REPLACEMENTS[cluster.text] ?? '?'.repeat(cluster.width)),
        )
        .join('')
}

const ASCII_REPLACEMENTS: { readonly [character: string]: string } = {
  '…': '~',
  '⏎': ' ',
  '—': '-',
  '–': '-',
  '·': '-',
  '“': '"',
  '”': '"',
  '‘': "'",
  '’': "'",
}

/** The characters that a tree is drawn with. */
type Glyphs = {
  readonly ok: string
  readonly bad: string
  readonly waiting: string
  readonly pending: string
  readonly skipped: string
  readonly cancelled: string
  /** One after the other: something goes on. */
  readonly spinner: readonly string[]
  readonly full: string
  readonly empty: string
  /** Between facts of a line. */
  readonly dot: string
  /** Stands for what was cut off, in one column. */
  readonly cut: string
  /** Before lines of a log. */
  readonly rule: string
}

/** For terminals that show everything. */
const UNICODE_GLYPHS: Glyphs = {
  ok: '✓',
  bad: '✗',
  waiting: '?',
  pending: '○',
  skipped: '↷',
  cancelled: '⊘',
  spinner: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'],
  full: '█',
  empty: '░',
  dot: '·',
  cut: '…',
  rule: '│',
}

/** For the others. */
const ASCII_GLYPHS: Glyphs = {
  ok: '+',
  bad: 'x',
  waiting: '?',
  pending: 'o',
  skipped: '>',
  cancelled: '-',
  spinner: ['|', '/', '-', '\\'],
  full: '#',
  empty: '.',
  dot: '-',
  cut: '~',
  rule: '|',
}

/**
 * Whether the environment says that its terminal has no characters beyond ASCII; where it says
 * nothing, it has.
 */
export function supportsUnicode(env: { readonly [name: string]: string | undefined }): boolean {
  if (env['TERM'] === 'dumb' || env['TERM'] === 'linux') return false
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG']
  return !locale || /utf-?8/i.test(locale)
}
