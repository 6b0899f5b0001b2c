import { fileURLToPath } from 'node:url'

/** A line of code that a stack names. */
export type Place = { readonly file: string; readonly line: number }

// `at name (place)`, `at async place`, or the place alone. Code of node itself has a name, and no path.
const LINE =
  /^(?:\s+at (?:.*?\(|async )?)?((?:file:\/\/)?(?:[A-Za-z]:)?[\\/][^()]*?):(\d+)(?::\d+)?\)?$/gm

/** The lines of code that a stack names, the innermost first, without those of node itself. */
export function placesIn(stack: string): readonly Place[] {
  return [...stack.matchAll(LINE)].flatMap(([, at, line]) => {
    const file = pathOf(at!)
    return file === undefined ? [] : [{ file, line: Number(line) }]
  })
}

function pathOf(at: string): string | undefined {
  if (!at.startsWith('file:')) return at
  try {
    return fileURLToPath(at)
  } catch {
    // A line of a message, which may hold anything.
    return undefined
  }
}
