/** What an author hears when a module cannot be imported. Loads no package. */

import { fileURLToPath } from 'node:url'
import { ToolError } from '../protocol/tool-error.ts'

/**
 * The error about a module that could not be imported: which one, where, and why. What says so
 * itself stays as it is.
 */
export function createImportError(file: string, thrown: unknown): unknown {
  if (ToolError.is(thrown)) return thrown
  const [first] = parseStackLocations((thrown as Partial<Error> | undefined)?.stack ?? '')
  const place = first === undefined ? file : `${first.file}:${first.line}`
  return new ToolError(
    'INTERNAL',
    `importing ${file} failed: ${describeError(thrown)} (${place})`,
    { suggestion: `Look at ${place}`, details: { source: place }, cause: thrown },
  )
}

/** What an error says of itself: its kind, unless it has none of its own, and its message. */
export function describeError(thrown: unknown): string {
  const { name, message } = (
    thrown instanceof Error ? thrown : { message: String(thrown) }
  ) as Partial<Error>
  return `${name === undefined || name === 'Error' ? '' : `${name}: `}${message ?? ''}`
}

/** A line of code that a stack names. */
type StackLocation = { readonly file: string; readonly line: number }

// `at name (place)`, `at async place`, or the place alone. Code of node itself has a name, and no
// path.
const STACK_LINE =
  /^(?:\s+at (?:.*?\(|async )?)?((?:file:\/\/)?(?:[A-Za-z]:)?[\\/][^()]*?):(\d+)(?::\d+)?\)?$/gm

/** The lines of code that a stack names, the innermost first, without those of node itself. */
export function parseStackLocations(stack: string): readonly StackLocation[] {
  return [...stack.matchAll(STACK_LINE)].flatMap(([, at, line]) => {
    const file = toFilePath(at!)
    return file === undefined ? [] : [{ file, line: Number(line) }]
  })
}

function toFilePath(at: string): string | undefined {
  if (!at.startsWith('file:')) return at
  try {
    return fileURLToPath(at)
  } catch {
    // A line of a message, which may hold anything.
    return undefined
  }
}
