import { RETURN_SIGN } from '../../../../contract/wide-characters.ts'

// Whole sequences go, so that text that was coloured for a terminal stays readable. The classes are disjoint: no backtracking to speak of.
const SEQUENCES =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]P^_X]|[\u009d\u0090\u009e\u009f\u0098])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)/g
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g
const SUSPECT = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

/** Text that cannot steer a terminal: control sequences are removed, other control characters and bidi overrides shown as escapes. Newlines and tabs stay. */
export function cleanText(text: string): string {
  if (!SUSPECT.test(text)) return text
  // Removing one sequence can join the halves of another, therefore every escape character that is left is written out afterwards.
  return text.replace(/\r\n/g, '\n').replace(SEQUENCES, '').replace(CONTROLS, escapeCharacter)
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
