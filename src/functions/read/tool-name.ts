import { flagName } from '../../define/flags/flag-name.ts'

/** The name of the tool of a function: `findFiles` is `find_files`. Empty where nothing of it can be kept. */
export function toolName(name: string): string {
  return flagName(name)
    .replaceAll('-', '_')
    .replace(/[^a-z0-9_]+/g, '')
    .slice(0, 64)
}

/** The words of a name, for a function that nobody has described: `Find files`. */
export function wordsOf(name: string): string {
  const words = flagName(name).replaceAll('-', ' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
