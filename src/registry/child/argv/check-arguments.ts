import { ToolError } from '../../../contract/tool-error.ts'

/** Bytes of one argument, its end not counted: the limit of Linux. */
export const LONGEST_ARGUMENT = 131_071

/** Refuses what no command line can carry: INVALID_INPUT that says which argument, and why. */
export function checkArguments(args: readonly string[], waysOut: string): void {
  for (const argument of args) {
    if (argument.includes('\0')) throw new ToolError('INVALID_INPUT', `${name(argument)} holds a NUL character, which no command line can carry`, { suggestion: 'Take the NUL character out' })
    if (/\p{Surrogate}/u.test(argument)) throw new ToolError('INVALID_INPUT', `${name(argument)} holds half a surrogate pair, which no command line can carry`, { suggestion: 'Send the text as valid Unicode' })
    const bytes = Buffer.byteLength(argument)
    if (bytes > LONGEST_ARGUMENT) {
      throw new ToolError('INVALID_INPUT', `${name(argument)} has ${bytes} bytes, and one argument of a command line has at most ${LONGEST_ARGUMENT}`, { details: { bytes, limit: LONGEST_ARGUMENT }, suggestion: waysOut })
    }
  }
}

function name(argument: string): string {
  const flag = /^--?[\w.-]{1,64}(?==)/.exec(argument)
  return flag ? `the value of ${flag[0]}` : argument.startsWith('{') ? 'the input as JSON' : 'an argument'
}
