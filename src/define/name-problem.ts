import { ToolError } from '../contract/tool-error.ts'

/** Runs what may refuse a schema, and says whose schema it is: among many tools the message has to tell. */
export function nameProblem<T>(tool: string, part: 'input' | 'output', run: () => T): T {
  try {
    return run()
  } catch (error) {
    const suggestion = ToolError.is(error) ? error.suggestion : undefined
    throw new ToolError(
      'CONFIG',
      `'${part}' of tool '${tool}': ${error instanceof Error ? error.message : String(error)}`,
      { cause: error, ...(suggestion && { suggestion }) },
    )
  }
}
