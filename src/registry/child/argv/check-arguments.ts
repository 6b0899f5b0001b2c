import { ToolError } from '../../../contract/tool-error.ts'

/** Bytes of one argument, its end not counted: the limit of Linux. */
export const LONGEST_ARGUMENT = 131_071

/** Refuses what no command line can carry: INVALID_INPUT that says which argument, and why. */
export function checkArguments(args: readonly string[], wayOut: string): void {
  for (const [index, argument] of args.entries()) {
    const named = (): string => nameOf(argument, args[index - 1])
    if (argument.includes('\0'))
      throw new ToolError(
        'INVALID_INPUT',
        `${named()} holds a NUL character, which no command line can carry`,
        { suggestion: 'Take the NUL character out' },
      )
    if (/\p{Surrogate}/u.test(argument))
      throw new ToolError(
        'INVALID_INPUT',
        `${named()} holds half a surrogate pair, which no command line can carry`,
        { suggestion: 'Send the text as valid Unicode' },
      )
    const bytes = Buffer.byteLength(argument)
    if (bytes > LONGEST_ARGUMENT) {
      throw new ToolError(
        'INVALID_INPUT',
        `${named()} has ${bytes} bytes, and one argument of a command line has at most ${LONGEST_ARGUMENT}`,
        { details: { bytes, limit: LONGEST_ARGUMENT }, suggestion: wayOut },
      )
    }
  }
}

const FLAG = /^--?[\p{L}\p{N}_.-]+/u

function nameOf(argument: string, before: string | undefined): string {
  if (argument.startsWith('{'))
    return before?.startsWith('-') ? `the value of ${before}` : 'the input as JSON'
  const flag =
    FLAG.exec(argument.slice(0, 100))?.[0] ??
    (before !== undefined && FLAG.test(before) ? before : undefined)
  return flag === undefined ? 'an argument' : `the value of ${flag}`
}
