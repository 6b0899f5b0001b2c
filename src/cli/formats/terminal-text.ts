/**
 * Text that is safe and styled for a terminal: colours, and control characters made harmless.
 */

import { styleText } from 'node:util'
import { RETURN_SIGN } from '../../util/text.ts'

type ColorOptions = {
  readonly env: { readonly [name: string]: string | undefined }
  readonly isTTY: boolean
  readonly noColorFlag: boolean
}

/**
 * Whether to colour: `--no-color`, then a non-empty `NO_COLOR`, then `FORCE_COLOR` (0 and false
 * mean off), then `TERM=dumb`, then the terminal decide.
 */
export function shouldUseColor({ env, isTTY, noColorFlag }: ColorOptions): boolean {
  if (noColorFlag || env['NO_COLOR']) return false
  const force = env['FORCE_COLOR']
  if (force) return force !== '0' && force !== 'false'
  return isTTY && env['TERM'] !== 'dumb'
}

type TextStyle = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** Styles a text, or leaves it alone. */
export type TextPainter = (style: TextStyle, text: string) => string

/** A painter that styles only when colour is wanted, whatever the streams of this process are. */
export function createTextPainter(color: boolean): TextPainter {
  return color
    ? (style, text) => (text === '' ? '' : styleText(style, text, { validateStream: false }))
    : (_style, text) => text
}

// Whole sequences go, so that text that was coloured for a terminal stays readable. The classes are
// disjoint: no backtracking to speak of.
const CONTROL_SEQUENCES =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]P^_X]|[\u009d\u0090\u009e\u009f\u0098])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)/g
const CONTROL_CHARACTERS =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g
const HAS_CONTROL_CHARACTER =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

/**
 * Text that cannot steer a terminal: control sequences are removed, other control characters and
 * bidi overrides shown as escapes. Newlines and tabs stay.
 */
export function cleanText(text: string): string {
  if (!HAS_CONTROL_CHARACTER.test(text)) return text
  // Removing one sequence can join the halves of another, therefore every escape character that is
  // left is written out afterwards.
  return text
    .replace(/\r\n/g, '\n')
    .replace(CONTROL_SEQUENCES, '')
    .replace(CONTROL_CHARACTERS, escapeCharacter)
}

/** The same on one line: a newline is shown as a return sign, a tab as a space. */
export function cleanLine(text: string): string {
  const clean = cleanText(text)
  return /[\n\t]/.test(clean) ? clean.replace(/\n/g, RETURN_SIGN).replace(/\t/g, ' ') : clean
}

function escapeCharacter(character: string): string {
  const code = character.charCodeAt(0)
  if (character === '\r') return '\\r'
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`
}
