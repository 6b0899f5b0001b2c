/**
 * Names, summaries and texts of foreign tools, made valid for every transport and safe to show.
 */

import { toLookupKey } from '../core/call.ts'
import type { ToolDefinition } from '../define/tool-types.ts'
import { shortHash } from '../util/short-hash.ts'
import { ELLIPSIS } from '../util/text.ts'

const MAX_NAME_LENGTH = 64
const VALID_NAME = /^[a-z0-9_-]{1,64}$/
// Letters that Unicode normalisation does not decompose.
const LATIN_LETTERS: ReadonlyMap<string, string> = new Map(
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

/**
 * Turns the name its owner gave a tool into one that every transport can carry: `getUser` becomes
 * `get_user`. Depends on nothing but the name; long and non-Latin names end in a hash to stay
 * distinct.
 */
export function toValidName(foreign: string): string {
  if (VALID_NAME.test(foreign)) return foreign
  // The hash covers what is cut off.
  const { text, isLossy } = transliterate(foreign.slice(0, 4 * MAX_NAME_LENGTH))
  const plain = text
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '_')
    .replace(/^[_-]+|[_-]+$/g, '')
  if (plain === '') return `tool_${shortHash(foreign)}`
  return isLossy || plain.length > MAX_NAME_LENGTH ? toDistinctName(plain, foreign) : plain
}

/**
 * The valid names of the tools of one source, by their original names. Names that would become equal
 * (`a.b` and `a b`) are kept distinct, and one that is valid already is kept.
 */
export function toValidNames(foreign: Iterable<string>): Map<string, string> {
  const names = new Map<string, string>()
  const bent = new Map<string, string[]>()
  for (const name of foreign) {
    if (names.has(name)) continue
    const valid = toValidName(name)
    names.set(name, valid)
    if (valid === name) continue
    const same = bent.get(valid)
    if (same) same.push(name)
    else bent.set(valid, [name])
  }
  for (const [valid, same] of bent)
    if (same.length > 1 || names.has(valid))
      for (const name of same) names.set(name, toDistinctName(valid, name))
  return names
}

/** The name, or the first of `name_2`, `name_3`, ... that is free. */
export function toFreeName(wanted: string, isTaken: (name: string) => boolean): string {
  let name = wanted
  for (let count = 2; isTaken(name); count += 1) name = `${wanted}_${count}`
  return name
}

/** What the names of entries are made of. */
export type NamedEntry = {
  readonly id: string
  readonly source: string
  /** A valid name. */
  readonly bare: string
  /** Another entry has the bare name. */
  readonly shadowed: boolean
}

/**
 * Entries by the names under which they are served: the bare name for its owner,
 * `<source>__<tool>` for what is shadowed. A name depends on its entry alone, unless another entry
 * has the same one: then a hash of its id is added. '-' and '_' are equal.
 */
export function assignEntryNames<Entry extends NamedEntry>(
  entries: Iterable<Entry>,
): Map<string, Entry> {
  const all = [...entries].map((entry) => ({
    entry,
    plain: entry.shadowed ? toShadowedName(entry) : entry.bare,
  }))
  const wanted = new Map<string, number>()
  const owned = new Set<string>()
  for (const { entry, plain } of all) {
    wanted.set(toLookupKey(plain), (wanted.get(toLookupKey(plain)) ?? 0) + 1)
    if (!entry.shadowed) owned.add(toLookupKey(plain))
  }
  const taken = new Set(owned)
  return new Map(
    all.map(({ entry, plain }) => {
      if (!entry.shadowed) return [plain, entry]
      let name = wanted.get(toLookupKey(plain)) === 1 ? plain : toDistinctName(plain, entry.id)
      for (let attempt = 1; taken.has(toLookupKey(name)); attempt += 1)
        name = toDistinctName(plain, `${entry.id}#${attempt}`)
      taken.add(toLookupKey(name))
      return [name, entry]
    }),
  )
}

/**
 * The name under which models know an entry: every provider accepts it, and different names stay
 * different.
 */
export function toExportName(name: string): string {
  if (/^(?:[a-z]|_(?![0-9-]))/.test(name)) return name
  // Gemini requires a letter or '_' first. A name that begins with '_' and a digit already gets a
  // hash, to stay distinct.
  if (name.startsWith('_')) return toDistinctName(name, name)
  return name.length < MAX_NAME_LENGTH ? `_${name}` : toDistinctName(`_${name}`, name)
}

/** Entries by the names under which models know them. */
export function indexByExportName<Entry extends { readonly name: string }>(
  entries: Iterable<Entry>,
): Map<string, Entry> {
  return new Map(Array.from(entries, (entry) => [toExportName(entry.name), entry]))
}

// Split at the first `__`, the name has to give source and tool again; otherwise a hash is added.
function toShadowedName({ id, source, bare }: NamedEntry): string {
  const plain = `${toValidName(source)}__${bare}`
  const isClear =
    VALID_NAME.test(source) &&
    !source.includes('__') &&
    !source.endsWith('_') &&
    !bare.startsWith('_')
  return isClear && plain.length <= MAX_NAME_LENGTH ? plain : toDistinctName(plain, id)
}

/** The name with a hash of the seed, so that it differs from others. */
export function toDistinctName(plain: string, seed: string): string {
  return `${plain.slice(0, MAX_NAME_LENGTH - 9).replace(/[_-]+$/, '') || 'tool'}_${shortHash(seed)}`
}

// `Größe` becomes `grosse`; a name without Latin letters is distinguished by its hash only.
function transliterate(foreign: string): { readonly text: string; readonly isLossy: boolean } {
  if (/^[\x20-\x7e]*$/.test(foreign)) return { text: foreign, isLossy: false }
  let isLossy = false
  const text = Array.from(
    foreign.normalize('NFKD').replace(/[\u0300-\u036f]/g, ''),
    (character) => {
      if (character <= '\x7f') return character
      const letters = LATIN_LETTERS.get(character) ?? LATIN_LETTERS.get(character.toLowerCase())
      isLossy ||= letters === undefined
      return letters ?? '_'
    },
  ).join('')
  return { text, isLossy }
}

const MAX_SUMMARY_LENGTH = 200

/** What the summary of a tool is made of, in the order of preference. Untrusted. */
type SummaryTexts = {
  readonly summary?: unknown
  readonly description?: unknown
  readonly title?: unknown
}

/** One line about a tool, made from its owner's texts. */
export function toSummary(name: string, { summary, description, title }: SummaryTexts): string {
  const line = [summary, description, title].map(readFirstLine).find((text) => text !== '') ?? name
  if (line.length <= MAX_SUMMARY_LENGTH) return line
  return `${line.slice(0, MAX_SUMMARY_LENGTH - 3).trimEnd()}...`
}

function readFirstLine(text: unknown): string {
  return (cleanText(text, 4 * MAX_SUMMARY_LENGTH) ?? '')
    .split('\n', 1)[0]!
    .replace(/\s+/g, ' ')
    .trim()
}

// Whole terminal sequences first, then the control characters and text directions that are left.
// The classes are disjoint, so the time is linear.
const TERMINAL_SEQUENCES =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]P^_X]|[\u009d\u0090\u009e\u009f\u0098])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?/g
const CONTROL_CHARACTERS =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g
// Text that a model reads and a person does not see.
const INVISIBLE_CHARACTERS = /[\u200b\u2060-\u2064]|\udb40[\udc00-\udc7f]/g
const LONE_SURROGATES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/**
 * Foreign text made safe to show to people and models: no escapes, nothing invisible, not too long.
 * Undefined for empty text and other values.
 */
export function cleanText(given: unknown, maxLength: number): string | undefined {
  if (typeof given !== 'string') return undefined
  // Bounded before any work.
  const text = given
    .slice(0, maxLength * 2)
    .replace(/\r\n?/g, '\n')
    .replace(TERMINAL_SEQUENCES, '')
    .replace(CONTROL_CHARACTERS, '')
    .replace(INVISIBLE_CHARACTERS, '')
    .replace(LONE_SURROGATES, '\ufffd')
    .trim()
  if (text === '') return undefined
  if (text.length <= maxLength) return text
  const cut = text.slice(0, maxLength - 1).replace(LONE_SURROGATES, '')
  return `${cut.trimEnd()}${ELLIPSIS}`
}

const notesByDefinition = new WeakMap<ToolDefinition, readonly string[]>()

/** Keeps notes on the parts of a foreign description that could not be used as they are. */
export function setNotes(definition: ToolDefinition, notes: readonly string[]): void {
  notesByDefinition.set(definition, notes)
}

/** The notes on a tool's description; empty for tools of this process. */
export function getNotes(definition: ToolDefinition): readonly string[] {
  return notesByDefinition.get(definition) ?? []
}
