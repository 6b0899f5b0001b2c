import { isObject } from '../../../contract/json.ts'
import type { ServerPlace } from '../agents/agent.ts'
import type { Config } from '../formats/format.ts'
import { digestOf, readMark, withoutMark } from './mark.ts'
import type { Mark } from './mark.ts'

/** An entry as it stands in a file: ours, ours and changed by somebody since, or somebody else's. */
export type Found =
  | { readonly state: 'absent' }
  | { readonly state: 'installed' | 'edited'; readonly bare: Config; readonly mark: Mark }
  | {
      readonly state: 'foreign'
      readonly bare: Config | undefined
      readonly mark: Mark | undefined
    }

/** Looks at one entry for the program. */
export function inspect(entries: Config, name: string, place: ServerPlace, program: string): Found {
  if (!Object.hasOwn(entries, name)) return { state: 'absent' }
  const entry = entries[name]
  if (!isObject(entry)) return { state: 'foreign', bare: undefined, mark: undefined }
  const mark = readMark(entry, place)
  const bare = withoutMark(entry, place)
  if (mark?.program !== program) return { state: 'foreign', bare, mark }
  return { state: digestOf(bare) === mark.digest ? 'installed' : 'edited', bare, mark }
}

/** The names of the entries that the program wrote. */
export function ownNames(entries: Config, place: ServerPlace, program: string): string[] {
  return Object.keys(entries).filter(
    (name) => !['absent', 'foreign'].includes(inspect(entries, name, place, program).state),
  )
}

/** Why an entry is not ours to change. */
export function reasonOf(found: Found, name: string): string | undefined {
  if (found.state === 'edited') return `'${name}' was changed by somebody after it was installed`
  if (found.state !== 'foreign') return undefined
  return found.mark
    ? `'${name}' belongs to the program ${found.mark.program}`
    : `'${name}' was written by somebody else`
}
