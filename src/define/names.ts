import { closest } from '../contract/did-you-mean.ts'
import { ToolError } from '../contract/tool-error.ts'

const NAME = /^[a-z0-9_-]{1,64}$/

/** Refuses a name that not every surface can carry. */
export function checkName(what: string, name: unknown): asserts name is string {
  if (typeof name === 'string' && NAME.test(name)) return
  const repaired =
    typeof name === 'string'
      ? name
          .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
          .toLowerCase()
          .replace(/[^a-z0-9_-]+/g, '_')
          .replace(/^_+|_+$/g, '')
          .slice(0, 64)
      : ''
  throw new ToolError(
    'CONFIG',
    `${what} name ${JSON.stringify(name)} must be 1 to 64 characters of a-z, 0-9, '_' and '-'${NAME.test(repaired) ? `; for example '${repaired}'` : ''}`,
  )
}

/** Refuses a summary that is missing or too long for discovery. */
export function checkSummary(what: string, summary: unknown): asserts summary is string {
  if (typeof summary !== 'string' || summary.trim() === '')
    throw new ToolError('CONFIG', `${what} needs a summary: one line of 1 to 200 characters`)
  if (summary.length > 200)
    throw new ToolError(
      'CONFIG',
      `the summary of ${what} has ${summary.length} characters; 200 are allowed: move the rest to 'description'`,
    )
}

/** Refuses a title that nobody could read. */
export function checkTitle(what: string, title: unknown, option = 'title'): void {
  if (title !== undefined && (typeof title !== 'string' || title.trim() === ''))
    throw new ToolError('CONFIG', `'${option}' of ${what} must be a text that is not empty`)
}

/** The form of a name under which it is looked up: '-' and '_' are equal. */
export function lookupKey(name: string): string {
  return name.replaceAll('-', '_')
}

/** Refuses an option that does not exist: a misspelt one would silently do nothing. */
export function checkOptions(what: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((option) => !known.includes(option))
  if (unknown === undefined) return
  const meant = closest(unknown, known)
  throw new ToolError(
    'CONFIG',
    `${what} has no option '${unknown}'${meant ? `; did you mean '${meant}'?` : `; the options are ${known.join(', ')}`}`,
  )
}
