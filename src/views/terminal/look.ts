import { createPaint } from '../../surfaces/cli/output/color.ts'
import { cleanLine } from '../../surfaces/cli/output/text/clean.ts'
import { splitClusters } from '../../surfaces/cli/output/text/display-width.ts'
import type { Glyphs } from './glyphs.ts'
import { ASCII, UNICODE } from './glyphs.ts'

/** What a colour stands for. It never stands alone: a symbol and a word say the same. */
export type Role = 'ok' | 'bad' | 'warn' | 'run' | 'dim' | 'accent'

/** How things are shown on this terminal. */
export type Look = {
  readonly glyphs: Glyphs
  paint(role: Role, text: string): string
  /** Text of a tool on one line, harmless and in characters that this terminal has. */
  clean(text: string): string
}

const STYLES = {
  ok: 'green',
  bad: 'red',
  warn: 'yellow',
  run: 'cyan',
  dim: 'dim',
  accent: 'bold',
} as const

/** The look for a terminal with or without colours and characters beyond ASCII. */
export function createLook({
  color,
  unicode,
}: {
  readonly color: boolean
  readonly unicode: boolean
}): Look {
  const style = createPaint(color)
  return {
    glyphs: unicode ? UNICODE : ASCII,
    paint: (role, text) => style(STYLES[role], text),
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
            : (KNOWN[cluster.text] ?? '?'.repeat(cluster.width)),
        )
        .join('')
}

const KNOWN: { readonly [character: string]: string } = {
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
