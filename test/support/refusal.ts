import { ToolError } from 'toolable'
import type { AnyTool, Toolset } from 'toolable'

/**
 * The error with which a definition is refused: at once, or when somebody first looks at what was
 * put off.
 */
export async function refusalOf(define: () => AnyTool | Toolset): Promise<ToolError> {
  try {
    await define().manifest()
  } catch (error) {
    if (error instanceof ToolError) return error
    throw error
  }
  throw new Error('the definition was accepted')
}

/** The error that a definition throws at once. */
export function refusedAtOnce(define: () => unknown): ToolError {
  try {
    define()
  } catch (error) {
    if (error instanceof ToolError) return error
    throw error
  }
  throw new Error('the definition was accepted')
}
