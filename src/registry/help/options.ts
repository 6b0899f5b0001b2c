import { lettersOf } from './clusters.ts'
import type { FlagSpec } from './head.ts'
import { isShort } from './head.ts'
import type { HelpOption } from './help-document.ts'
import { readNotices } from './notices.ts'
import type { FlagEntry } from './outline.ts'
import { alternativesIn, wordsOf } from './placeholder.ts'
import type { UsageItem } from './usage.ts'
import type { ValueJoint } from './value.ts'

type Draft = { -readonly [key in keyof HelpOption]: HelpOption[key] }
/** How the help text writes the values of its options. */
export type Written = ReadonlyMap<HelpOption, ValueJoint>

type Value = { readonly text: string; readonly optional: boolean }

const LONGEST_DESCRIPTION = 4000

/** The options of a help text: what its lists describe, completed by what its usage lines name. */
export function collectOptions(
  entries: readonly FlagEntry[],
  usages: readonly (readonly UsageItem[])[],
): { readonly options: HelpOption[]; readonly written: Written } {
  const options = new Options()
  for (const entry of joinStacked(entries)) addEntry(options, entry)
  for (const items of usages)
    for (const item of items) if (item.kind === 'flag') addUsage(options, item)
  markRequired(options, usages)
  return { options: options.all(), written: options.written }
}

/** Options by name. A name that comes again is the same option. */
class Options {
  readonly #byName = new Map<string, Draft>()
  readonly #all: Draft[] = []
  readonly written = new Map<HelpOption, ValueJoint>()

  find(name: string): Draft | undefined {
    return this.#byName.get(name)
  }

  add(names: readonly string[], draft: Draft): Draft {
    const fresh = [...new Set(names)].filter((name) => !this.#byName.has(name))
    if (fresh.length === 0) return this.#byName.get(names[0]!)!
    draft.long = fresh.filter((name) => !isShort(name))
    draft.short = fresh.filter((name) => isShort(name))
    for (const name of fresh) this.#byName.set(name, draft)
    this.#all.push(draft)
    return draft
  }

  all(): Draft[] {
    return this.#all
  }
}

function addEntry(options: Options, entry: FlagEntry): void {
  const text = entry.description.join('\n')
  const description = text
    .replace(/(?<!\n)\n(?!\n)/g, ' ')
    .slice(0, LONGEST_DESCRIPTION)
    .trim()
  // `-4 | -6 | -M` are three flags.
  const apart =
    entry.head.specs.length > 2 &&
    entry.head.specs.every(({ names }) => names.every((name) => isShort(name)))
  if (entry.head.list || apart)
    for (const spec of entry.head.specs) addSpecs(options, [spec], '', '')
  else addSpecs(options, entry.head.specs, description, text)
}

function addSpecs(
  options: Options,
  specs: readonly FlagSpec[],
  description: string,
  text: string,
): void {
  const names = specs.flatMap((spec) => spec.names)
  const known = options.find(names[0]!)
  const notices = readNotices(text)
  const values = specs.flatMap(({ value }) => (value ? [value] : []))
  const value = values[0] && {
    text: values.map((one) => one.text).find((one) => one !== '') ?? '',
    optional: values.every(({ optional }) => optional),
  }
  const negative = specs.flatMap((spec) => spec.negative)
  if (known && names.every((name) => options.find(name) === known)) {
    // Listed again with other words: `-e trace=…` after `-e expr`.
    if (value && !known.takesValue) setValue(known, value)
    if (known.description === '') known.description = description
    return
  }
  const draft = emptyDraft(description)
  setValue(draft, value)
  const joint = values.find((one) => one.joint !== undefined)?.joint
  if (joint) options.written.set(draft, joint)
  if (notices.takesValue !== undefined && !(value && notices.takesValue === false))
    draft.takesValue = notices.takesValue
  if (draft.choices.length === 0) draft.choices = notices.choices
  if (
    draft.choices.length > 1 &&
    !draft.takesValue &&
    values.length === 0 &&
    notices.takesValue !== false
  )
    draft.takesValue = /\[(?:choices|possible values):/i.test(text)
  draft.default ??= notices.default
  draft.repeatable ||= notices.repeatable || specs.some(({ repeated }) => repeated)
  draft.required = notices.required
  if (negative.length > 0 && draft.takesValue) options.add(negative, emptyDraft(description))
  options.add([...names, ...(draft.takesValue ? [] : negative), ...notices.aliases], draft)
}

function addUsage(options: Options, item: UsageItem): void {
  const letters =
    item.names.length === 1
      ? lettersOf(item.names[0]!, (name) => options.find(name) !== undefined)
      : undefined
  if (letters) {
    for (const [index, letter] of letters.entries())
      addUsage(options, {
        ...item,
        names: [letter],
        ...(index < letters.length - 1 && { value: undefined as never }),
      })
    return
  }
  const known = options.find(item.names[0]!)
  if (known) {
    if (item.value?.sure && !known.takesValue && known.description.search(/\[boolean\]/) < 0)
      setValue(known, item.value)
    known.repeatable ||= item.repeatable
    return
  }
  const draft = emptyDraft('')
  setValue(draft, item.value)
  draft.repeatable ||= item.repeatable
  if (item.negative.length > 0 && draft.takesValue) options.add(item.negative, emptyDraft(''))
  options.add(draft.takesValue ? item.names : [...item.names, ...item.negative], draft)
}

function setValue(draft: Draft, value: Value | undefined): void {
  if (!value) return
  const quoted = /^"([^"]*)"$/.exec(value.text)
  draft.takesValue = true
  if (value.optional) draft.valueOptional = true
  draft.choices = alternativesIn(value.text)
  draft.valueName = quoted ? null : nameOf(value.text)
  if (quoted) draft.default = quoted[1]!
  draft.repeatable ||= isMany(value.text)
}

/** `<FILE>...`, `FOO [FOO ...]`, `<names...>`, and the type names that mean a list. */
function isMany(text: string): boolean {
  return (
    (/\.\.\.[>\]]?$/.test(text) && !/[,:;|=/]\s*\.\.\.[>\]]?$/.test(text) && text !== '...') ||
    /^(?:strings|stringArray|stringSlice|ints|intSlice|stringToString)$/.test(text) ||
    / \[\+\]$/.test(text)
  )
}

function nameOf(text: string): string | null {
  const bare = text
    .replace(/\s*\[\+\]$/, '')
    .replace(/ ?\.\.\.$/, '')
    .trim()
  const words = wordsOf(bare)
  const name =
    words.length === 1
      ? bare.replace(/^<([^<>]*?)(?:\.\.\.)?>$/, '$1').replace(/^\(([^()]*)\)$/, '$1')
      : words.map((word) => word.replace(/^<([^<>]*)>$/, '$1')).join(' ')
  return name === '' ? null : name.slice(0, 200)
}

function emptyDraft(description: string): Draft {
  return {
    long: [],
    short: [],
    takesValue: false,
    valueName: null,
    choices: [],
    default: null,
    repeatable: false,
    required: false,
    description,
  }
}

/** Manual pages give each name a line of its own, and describe the last. */
function joinStacked(entries: readonly FlagEntry[]): FlagEntry[] {
  const joined: FlagEntry[] = []
  for (const entry of entries) {
    const above = joined[joined.length - 1]
    if (
      above &&
      above.description.length === 0 &&
      above.line === entry.line - 1 &&
      above.indent === entry.indent &&
      entry.below &&
      !above.head.list &&
      !entry.head.list &&
      areNamesOfOne(above, entry)
    ) {
      joined[joined.length - 1] = {
        ...entry,
        head: { ...entry.head, specs: [...above.head.specs, ...entry.head.specs] },
      }
    } else joined.push(entry)
  }
  return joined
}

function areNamesOfOne(above: FlagEntry, entry: FlagEntry): boolean {
  const short = ({ head }: FlagEntry): boolean =>
    head.specs.every(({ names }) => names.every((name) => isShort(name)))
  return short(above) !== short(entry) && above.head.specs.length + entry.head.specs.length <= 6
}

/** A flag that every usage line has, outside brackets, has to be given. */
function markRequired(options: Options, usages: readonly (readonly UsageItem[])[]): void {
  if (usages.length !== 1) return
  for (const item of usages[0]!) {
    const option = item.kind === 'flag' && item.required ? options.find(item.names[0]!) : undefined
    if (option && !/^--?(?:help|version)$/.test(item.names[0]!)) option.required = true
  }
}
