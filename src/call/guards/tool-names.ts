import { ToolError } from '../../contract/tool-error.ts'
import { lookupKey } from '../../define/names.ts'

/** The names of tools in the form in which they are looked up; throws CONFIG for what is no list of names. */
export function readNames(what: string, given: unknown): readonly string[] {
  const names = Array.isArray(given) ? (given as readonly unknown[]) : [given]
  if (names.length === 0 || !names.every((name) => typeof name === 'string' && name !== ''))
    throw new ToolError(
      'CONFIG',
      `${what} must be names of tools: a text, or a list of texts that is not empty`,
    )
  return (names as readonly string[]).map(lookupKey)
}

/** The same as a test of one name. */
export function isOneOf(what: string, given: unknown): (name: string) => boolean {
  const names = new Set(readNames(what, given))
  return (name) => names.has(lookupKey(name))
}
