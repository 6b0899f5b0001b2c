import { lateExpression } from '../../../../contract/late-expression.ts'
import { EMOJI_STYLE, JOINER } from '../../../../contract/wide-characters.ts'

/** What a terminal shows as one character, and how many columns it takes. */
export type Cluster = { readonly text: string; readonly width: number }

/** Columns that a text takes on a terminal. Control characters count as nothing: clean the text first. */
export function displayWidth(text: string): number {
  if (isPlain(text)) return text.length
  return splitClusters(text).reduce((sum, { width }) => sum + width, 0)
}

/** The text in pieces that must not be cut: combining marks, emoji sequences and flags stay whole. */
export function splitClusters(text: string): Cluster[] {
  const clusters: { text: string; width: number }[] = []
  let last: { text: string; width: number } | undefined
  for (const character of text) {
    const width = characterWidth(character)
    if (last && attaches(last.text, character, width)) {
      last.text += character
      if (character === EMOJI_STYLE && EMOJI().test(last.text)) last.width = 2
      if (isRegional(character)) last.width = 2
    } else {
      last = { text: character, width }
      clusters.push(last)
    }
  }
  return clusters
}

const EMOJI = lateExpression(String.raw`^\p{Emoji}`)
const PICTOGRAPH = lateExpression(String.raw`^\p{Extended_Pictographic}$`)
const MODIFIABLE = lateExpression(String.raw`^\p{Emoji_Modifier_Base}`)
const SKIN_TONE = /^[\u{1f3fb}-\u{1f3ff}]$/u
// The soft hyphen is a format character that terminals do show. Hangul vowels and finals draw into the syllable before them.
const NO_WIDTH = lateExpression(
  String.raw`^(?!\u00ad)[\p{Mn}\p{Me}\p{Cf}\p{Cc}\u1160-\u11ff\ud7b0-\ud7ff]$`,
)
const EMOJI_WIDE = lateExpression(String.raw`^\p{Emoji_Presentation}$`)
// East Asian Wide and Fullwidth blocks of Unicode.
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f265],
  [0x20000, 0x3fffd],
]

function isPlain(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text)
}

function characterWidth(character: string): number {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x300) return NO_WIDTH().test(character) ? 0 : 1
  if (isRegional(character)) return 1
  if (NO_WIDTH().test(character)) return 0
  return EMOJI_WIDE().test(character) || WIDE.some(([from, to]) => code >= from && code <= to)
    ? 2
    : 1
}

function attaches(before: string, character: string, width: number): boolean {
  if (width === 0) return true
  if (SKIN_TONE.test(character)) return MODIFIABLE().test(before)
  if (isRegional(character)) return isRegional(before)
  return before.endsWith(JOINER) && PICTOGRAPH().test(character)
}

function isRegional(text: string): boolean {
  return /^[\u{1f1e6}-\u{1f1ff}]$/u.test(text)
}
