import { ToolError } from '../../contract/tool-error.ts'
import { placesIn } from './place-in-stack.ts'

/** The error about a module that could not be imported: which one, where, and why. What says so itself stays as it is. */
export function importFailure(file: string, thrown: unknown): unknown {
  if (ToolError.is(thrown)) return thrown
  const [first] = placesIn((thrown as Partial<Error> | undefined)?.stack ?? '')
  const place = first === undefined ? file : `${first.file}:${first.line}`
  return new ToolError('INTERNAL', `importing ${file} failed: ${wordsOf(thrown)} (${place})`, {
    suggestion: `Look at ${place}`,
    details: { source: place },
    cause: thrown,
  })
}

/** What an error says of itself: its kind, unless it has none of its own, and its message. */
export function wordsOf(thrown: unknown): string {
  const { name, message } = (
    thrown instanceof Error ? thrown : { message: String(thrown) }
  ) as Partial<Error>
  return `${name === undefined || name === 'Error' ? '' : `${name}: `}${message ?? ''}`
}
