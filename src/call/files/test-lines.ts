import { ToolError } from '../../contract/tool-error.ts'

const LONGEST_TESTED = 10_000

/** Tells which of many lines fit. */
export type Tester = (lines: readonly string[]) => readonly number[]

/** Makes the test of lines for a text or an expression. An expression that would go on for ever is stopped when the time is over, and it sees only the first 10,000 characters of a line. */
export async function openTester(pattern: string | RegExp, inTime: () => number): Promise<Tester> {
  if (typeof pattern === 'string') {
    if (pattern === '') throw new ToolError('INVALID_INPUT', 'there is no text to search for', { field: 'pattern' })
    return (lines) => lines.flatMap((line, index) => (line.includes(pattern) ? [index] : []))
  }
  if (!(pattern instanceof RegExp)) throw new ToolError('INVALID_INPUT', 'a search is for a text or a regular expression', { field: 'pattern' })
  // Those two flags would make it remember where it was in another line.
  const expression = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''))
  const { createContext, Script } = await import('node:vm')
  const bench: { work: () => void } = { work: () => undefined }
  const context = createContext(bench)
  const script = new Script('work()')
  return (lines) => {
    const found: number[] = []
    // Nothing but this ends an expression on the thread that it runs on.
    bench.work = () => lines.forEach((line, index) => { if (expression.test(line.slice(0, LONGEST_TESTED))) found.push(index) })
    try {
      script.runInContext(context, { timeout: inTime() })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw tookTooLong()
      throw error
    }
    return found
  }
}

/** Says that a search was given up. */
export function tookTooLong(): ToolError {
  return new ToolError('TIMEOUT', 'the search took too long', { recoverable: true, suggestion: "Search less: give a narrower pattern for paths, such as 'src/**/*.ts', or a simpler expression" })
}
