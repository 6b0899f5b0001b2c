import { ToolError } from '../../contract/tool-error.ts'
import { shorten } from '../../contract/shorten.ts'

/** Where the changes of calls wait for their commit; no path leads there. */
export const CHANGES_FOLDER = '.toolable-changes'

const LONGEST_PATH = 4_000
const LONGEST_NAME = 255

/** The names that a path goes through, none for the root itself. Throws INVALID_PATH for everything that could mean a place outside, or no place at all. */
export function readPath(path: unknown): readonly string[] {
  if (typeof path !== 'string') throw invalid(String(path), 'a path is a text')
  if (path.length > LONGEST_PATH)
    throw invalid(path, `a path has at most ${LONGEST_PATH} characters`)
  if (path.includes('\0')) throw invalid(path, 'a path has no NUL characters')
  // Half of a pair would be written as another character, so that two paths meant one file.
  if (/\p{Surrogate}/u.test(path)) throw invalid(path, 'the path is no valid Unicode')
  if (/^[/\\]|^[A-Za-z]:[/\\]/.test(path))
    throw invalid(path, 'absolute paths are refused', withoutRoot(path))
  const names = path.split('/').filter((name) => name !== '' && name !== '.')
  for (const name of names) {
    if (name === '..') throw invalid(path, "'..' is refused")
    if (Buffer.byteLength(name) > LONGEST_NAME)
      throw invalid(path, `a name has at most ${LONGEST_NAME} bytes`)
  }
  if (names[0] !== undefined && isChangesFolder(names[0]))
    throw invalid(path, `'${CHANGES_FOLDER}' belongs to calls that are going on`)
  return names
}

/** Whether a name in the root means the place of changes on any file system, also on those that ignore case or invisible characters. */
export function isChangesFolder(name: string): boolean {
  return (
    name.length >= CHANGES_FOLDER.length &&
    name
      .normalize('NFKC')
      .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
      .toLowerCase() === CHANGES_FOLDER
  )
}

/** The names as a path; `.` is the root. */
export function pathOf(names: readonly string[]): string {
  return names.length === 0 ? '.' : names.join('/')
}

/** A refusal of a path. */
export function invalid(path: string, reason: string, instead?: string): ToolError {
  return new ToolError('INVALID_PATH', `'${shorten(path, 200)}': ${reason}`, {
    suggestion:
      instead === undefined
        ? "Give a path relative to the root, such as 'src/main.ts'"
        : { fix: `Use '${instead}'`, example: instead },
  })
}

function withoutRoot(path: string): string | undefined {
  const rest = path.replace(/^[A-Za-z]:/, '').replace(/^[/\\]+/, '')
  return rest === '' ? '.' : undefined
}
