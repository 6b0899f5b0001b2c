import { shortHash } from '../contract/short-hash.ts'
import { lookupKey } from '../define/names.ts'

const LONGEST = 64
const VALID = /^[a-z0-9_-]{1,64}$/
// Letters that Unicode does not take apart.
const LETTERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '\u00df': 'ss',
    '\u00e6': 'ae',
    '\u0153': 'oe',
    '\u00f8': 'o',
    '\u0111': 'd',
    '\u00f0': 'd',
    '\u0142': 'l',
    '\u00fe': 'th',
    '\u0131': 'i',
    '\u0127': 'h',
    '\u014b': 'n',
  }),
)

/** A name that every surface can carry, made of whatever its owner calls a tool: `getUser` is `get_user`. Depends on nothing but the name; long and foreign ones end in a hash, so that they stay apart. */
export function validName(foreign: string): string {
  if (VALID.test(foreign)) return foreign
  // Nobody meant more than this to be read; the hash knows the rest.
  const { text, isLossy } = transliterate(foreign.slice(0, 4 * LONGEST))
  const plain = text
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '_')
    .replace(/^[_-]+|[_-]+$/g, '')
  if (plain === '') return `tool_${shortHash(foreign)}`
  return isLossy || plain.length > LONGEST ? withHash(plain, foreign) : plain
}

/** Names of the tools of one source, by what their owner calls them: names that would fall together (`a.b` and `a b`) are kept apart, and the one that was valid already keeps its name. */
export function validNames(foreign: Iterable<string>): Map<string, string> {
  const names = new Map<string, string>()
  const bent = new Map<string, string[]>()
  for (const name of foreign) {
    if (names.has(name)) continue
    const valid = validName(name)
    names.set(name, valid)
    if (valid === name) continue
    const same = bent.get(valid)
    if (same) same.push(name)
    else bent.set(valid, [name])
  }
  for (const [valid, same] of bent)
    if (same.length > 1 || names.has(valid))
      for (const name of same) names.set(name, withHash(valid, name))
  return names
}

/** The same name, told apart from others by a seed. */
export function distinctName(name: string, seed: string): string {
  return withHash(name, seed)
}

/** What the names of entries are made of. */
export type NamedEntry = {
  readonly id: string
  readonly source: string
  /** A valid name. */
  readonly bare: string
  /** Another entry answers to the bare name. */
  readonly shadowed: boolean
}

/** Entries by the names under which they are served: the bare name for its owner, `<source>__<tool>` for what is shadowed. They depend on the entry alone, except where somebody else has just that name: then the hash of its id is added. '-' and '_' are equal. */
export function entryNames<Entry extends NamedEntry>(entries: Iterable<Entry>): Map<string, Entry> {
  const all = [...entries].map((entry) => ({
    entry,
    plain: entry.shadowed ? shadowedName(entry) : entry.bare,
  }))
  const wanted = new Map<string, number>()
  const owned = new Set<string>()
  for (const { entry, plain } of all) {
    wanted.set(lookupKey(plain), (wanted.get(lookupKey(plain)) ?? 0) + 1)
    if (!entry.shadowed) owned.add(lookupKey(plain))
  }
  const taken = new Set(owned)
  return new Map(
    all.map(({ entry, plain }) => {
      if (!entry.shadowed) return [plain, entry]
      let name = wanted.get(lookupKey(plain)) === 1 ? plain : withHash(plain, entry.id)
      for (let attempt = 1; taken.has(lookupKey(name)); attempt += 1)
        name = withHash(plain, `${entry.id}#${attempt}`)
      taken.add(lookupKey(name))
      return [name, entry]
    }),
  )
}

/** The name under which models know an entry of this name: every provider takes it, and different names stay different. */
export function exportName(name: string): string {
  if (/^(?:[a-z]|_(?![0-9-]))/.test(name)) return name
  // Gemini wants a letter or '_' first. What begins with '_' and a digit already has to make room.
  if (name.startsWith('_')) return withHash(name, name)
  return name.length < LONGEST ? `_${name}` : withHash(`_${name}`, name)
}

/** Entries by the names under which models know them. */
export function providerNames<Entry extends { readonly name: string }>(
  entries: Iterable<Entry>,
): Map<string, Entry> {
  return new Map(Array.from(entries, (entry) => [exportName(entry.name), entry]))
}

// Taken apart at the first `__` it has to give source and tool again, else the hash tells them apart.
function shadowedName({ id, source, bare }: NamedEntry): string {
  const plain = `${validName(source)}__${bare}`
  const isClear =
    VALID.test(source) && !source.includes('__') && !source.endsWith('_') && !bare.startsWith('_')
  return isClear && plain.length <= LONGEST ? plain : withHash(plain, id)
}

function withHash(plain: string, seed: string): string {
  return `${plain.slice(0, LONGEST - 9).replace(/[_-]+$/, '') || 'tool'}_${shortHash(seed)}`
}

// `Größe` is `grosse`; what has no Latin letters is only told apart by its hash.
function transliterate(foreign: string): { readonly text: string; readonly isLossy: boolean } {
  if (/^[\x20-\x7e]*$/.test(foreign)) return { text: foreign, isLossy: false }
  let isLossy = false
  const text = Array.from(
    foreign.normalize('NFKD').replace(/[\u0300-\u036f]/g, ''),
    (character) => {
      if (character <= '\x7f') return character
      const letters = LETTERS.get(character) ?? LETTERS.get(character.toLowerCase())
      isLossy ||= letters === undefined
      return letters ?? '_'
    },
  ).join('')
  return { text, isLossy }
}
