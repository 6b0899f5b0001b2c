import { ToolError } from '../../contract/tool-error.ts'

/** The error about a module that could not be imported: which one, where, and why. What says so itself stays as it is. */
export function importFailure(file: string, thrown: unknown): unknown {
  if (ToolError.is(thrown)) return thrown
  const { name, message, stack } = (thrown instanceof Error ? thrown : { message: String(thrown) }) as Partial<Error>
  const place = placeIn(stack ?? '') ?? file
  const kind = name === undefined || name === 'Error' ? '' : `${name}: `
  return new ToolError('INTERNAL', `importing ${file} failed: ${kind}${message ?? ''} (${place})`, { suggestion: `Look at ${place}`, details: { source: place }, cause: thrown })
}

// The first line of the stack that is no code of node.
function placeIn(stack: string): string | undefined {
  const found = /(?:file:\/\/)?((?:[A-Za-z]:)?[\\/][^\s():]+:\d+)(?::\d+)?(?=\)?$)/m.exec(stack)?.[1]
  return found === undefined ? undefined : decodeURI(found)
}
