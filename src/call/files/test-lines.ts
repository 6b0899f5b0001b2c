import { ToolError } from '../../contract/tool-error.ts'

const LONGEST_TESTED = 10_000

/** Tells which of many lines fit. */
export type Tester = (lines: readonly string[]) => readonly number[]

/** Makes the test of lines for a text or an expression. An expression that would go on for ever is stopped when the time is over, and it sees only the first 10,000 characters of a line. */
export async function openTester(pattern: string | RegExp, inTime: () => number): Promise<Tester> {
  if (typeof pattern === 'string') {
    if (pattern === '')
      throw new ToolError('INVALID_INPUT', 'there is no text to search for', { field: 'pattern' })
    return (lines) => lines.flatMap((line, index) => (line.includes(pattern) ? [index] : []))
  }
  if (!(pattern instanceof RegExp))
    throw new ToolError('INVALID_INPUT', 'a search is for a text or a regular expression', {
      field: 'pattern',
    })
  // Those two flags would make it remember where it was in another line.
  const expression = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''))
  const { limitTime } = await import('../../define/schema/time-limit.ts')
  return (lines) =>
    limitTime(
      () =>
        lines.flatMap((line, index) =>
          expression.test(line.slice(0, LONGEST_TESTED)) ? [index] : [],
        ),
      { limit: inTime(), tries: 1 },
    ) ?? giveUp()
}

/** Says that a search was given up. */
export function tookTooLong(): ToolError {
  return new ToolError('TIMEOUT', 'the search took too long', {
    recoverable: true,
    suggestion:
      "Search less: give a narrower pattern for paths, such as 'src/**/*.ts', or a simpler expression",
  })
}

function giveUp(): never {
  throw tookTooLong()
}
