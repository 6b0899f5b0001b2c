import { shortHash } from '../contract/short-hash.ts'

const LONGEST = 64
const VALID = /^[a-z0-9_-]{1,64}$/
// Letters that Unicode does not take apart.
const LETTERS: ReadonlyMap<string, string> = new Map(Object.entries({ '\u00df': 'ss', '\u00e6': 'ae', '\u0153': 'oe', '\u00f8': 'o', '\u0111': 'd', '\u00f0': 'd', '\u0142': 'l', '\u00fe': 'th', '\u0131': 'i', '\u0127': 'h', '\u014b': 'n' }))

/** A name that every surface can carry, made of whatever its owner calls a tool: `getUser` is `get_user`. Depends on nothing but the name; long and foreign ones end in a hash, so that they stay apart. */
export function validName(foreign: string): string {
  if (VALID.test(foreign)) return foreign
  // Nobody meant more than this to be read; the hash knows the rest.
  const { text, isLossy } = transliterate(foreign.slice(0, 4 * LONGEST))
  const plain = text
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/([A-Z])([A-Z][a-z])/g, '$1_$2').toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '_').replace(/^[_-]+|[_-]+$/g, '')
  if (plain === '') return `tool_${shortHash(foreign)}`
  return isLossy || plain.length > LONGEST ? withHash(plain, foreign) : plain
}

/** Names of the tools of one source, by what their owner calls them: names that would fall together (`a.b` and `a b`) are kept apart, and the one that was valid already keeps its name. */
export function validNames(foreign: Iterable<string>): Map<string, string> {
  const all = [...new Set(foreign)]
  const wanted = new Map<string, string[]>()
  for (const name of all) {
    const valid = validName(name)
    wanted.set(valid, [...(wanted.get(valid) ?? []), name])
  }
  return new Map(all.map((name) => {
    const valid = validName(name)
    return [name, valid === name || wanted.get(valid)!.length === 1 ? valid : withHash(valid, name)]
  }))
}

/** What exported names are made of. */
export type NamedEntry = {
  readonly id: string
  readonly source: string
  /** A valid name. */
  readonly name: string
  /** Another entry answers to the bare name. */
  readonly shadowed: boolean
}

/** The name under which models know an entry: valid for every provider, the bare name where the entry owns it, `<source>__<tool>` where it is shadowed. */
export function exportName({ id, source, name, shadowed }: NamedEntry): string {
  const plain = shadowed ? `${validName(source)}__${name}` : name
  const started = /^[a-z_]/.test(plain) ? plain : `_${plain}`
  // Taken apart at the first `__` it has to give source and tool again.
  const isClear = !shadowed || (VALID.test(source) && !source.includes('__') && !source.endsWith('_') && !name.startsWith('_'))
  return isClear && started.length <= LONGEST ? started : withHash(started, id)
}

/** Entries by their exported names, which are unique. They depend on the entry alone, except where somebody else owns just that name: then the hash of its id is added. */
export function providerNames<Entry extends NamedEntry>(entries: Iterable<Entry>): Map<string, Entry> {
  const all = [...entries]
  const owned = new Set(all.filter((entry) => !entry.shadowed && exportName(entry) === entry.name).map(({ name }) => name))
  const named = new Map<string, Entry>()
  for (const entry of all) {
    const plain = exportName(entry)
    let name = (!entry.shadowed && plain === entry.name) || !owned.has(plain) ? plain : withHash(plain, entry.id)
    for (let attempt = 1; named.has(name) && named.get(name) !== entry; attempt += 1) name = withHash(plain, `${entry.id}#${attempt}`)
    named.set(name, entry)
  }
  return named
}

function withHash(plain: string, id: string): string {
  return `${plain.slice(0, LONGEST - 9).replace(/[_-]+$/, '')}_${shortHash(id)}`
}

// `Größe` is `grosse`; what has no Latin letters is only told apart by its hash.
function transliterate(foreign: string): { readonly text: string; readonly isLossy: boolean } {
  if (/^[\x20-\x7e]*$/.test(foreign)) return { text: foreign, isLossy: false }
  let isLossy = false
  const text = Array.from(foreign.normalize('NFKD').replace(/[\u0300-\u036f]/g, ''), (character) => {
    if (character <= '\x7f') return character
    const letters = LETTERS.get(character) ?? LETTERS.get(character.toLowerCase())
    isLossy ||= letters === undefined
    return letters ?? '_'
  }).join('')
  return { text, isLossy }
}
