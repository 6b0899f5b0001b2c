/**
 * Collects the options of a help text, with defaults, choices and other notices in their descriptions.
 */

import type { HelpFlag } from './flag-head.ts'
import { isShortName } from './flag-head.ts'
import type { HelpFlagEntry, HelpOption } from './sections.ts'
import type { ValueSeparator } from './tokens.ts'
import { listAlternatives, splitWords } from './tokens.ts'
import type { UsageItem } from './usage.ts'

type OptionDraft = { -readonly [key in keyof HelpOption]: HelpOption[key] }
/** How the help text writes the values of its options. */
export type ValueSeparators = ReadonlyMap<HelpOption, ValueSeparator>

type OptionValue = { readonly text: string; readonly optional: boolean }

const MAX_OPTION_DESCRIPTION = 4000

/** The options of a help text: what its lists describe, completed by what its usage lines name. */
export function collectOptions(
  entries: readonly HelpFlagEntry[],
  usages: readonly (readonly UsageItem[])[],
): { readonly options: HelpOption[]; readonly written: ValueSeparators } {
  const options = new OptionCollection()
  for (const entry of joinStackedEntries(entries)) addEntry(options, entry)
  for (const items of usages)
    for (const item of items) if (item.kind === 'flag') addUsageFlag(options, item)
  markRequiredOptions(options, usages)
  return { options: options.all(), written: options.written }
}

/** Options by name. A name that comes again is the same option. */
class OptionCollection {
  readonly #byName = new Map<string, OptionDraft>()
  readonly #all: OptionDraft[] = []
  readonly written = new Map<HelpOption, ValueSeparator>()

  find(name: string): OptionDraft | undefined {
    return this.#byName.get(name)
  }

  add(names: readonly string[], draft: OptionDraft): OptionDraft {
    const fresh = [...new Set(names)].filter((name) => !this.#byName.has(name))
    if (fresh.length === 0) return this.#byName.get(names[0]!)!
    draft.long = fresh.filter((name) => !isShortName(name))
    draft.short = fresh.filter((name) => isShortName(name))
    for (const name of fresh) this.#byName.set(name, draft)
    this.#all.push(draft)
    return draft
  }

  all(): OptionDraft[] {
    return this.#all
  }
}

function addEntry(options: OptionCollection, entry: HelpFlagEntry): void {
  const text = entry.description.join('\n')
  const description = text
    .replace(/(?<!\n)\n(?!\n)/g, ' ')
    .slice(0, MAX_OPTION_DESCRIPTION)
    .trim()
  // `-4 | -6 | -M` are three flags.
  const apart =
    entry.head.specs.length > 2 &&
    entry.head.specs.every(({ names }) => names.every((name) => isShortName(name)))
  if (entry.head.list || apart)
    for (const spec of entry.head.specs) addFlags(options, [spec], '', '')
  else addFlags(options, entry.head.specs, description, text)
}

function addFlags(
  options: OptionCollection,
  specs: readonly HelpFlag[],
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

function addUsageFlag(options: OptionCollection, item: UsageItem): void {
  const letters =
    item.names.length === 1
      ? splitFlagCluster(item.names[0]!, (name) => options.find(name) !== undefined)
      : undefined
  if (letters) {
    // Only the last letter of a cluster takes the value.
    const { value: _value, ...bare } = item
    for (const [index, letter] of letters.entries())
      addUsageFlag(options, { ...(index < letters.length - 1 ? bare : item), names: [letter] })
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

function setValue(draft: OptionDraft, value: OptionValue | undefined): void {
  if (!value) return
  const quoted = /^"([^"]*)"$/.exec(value.text)
  draft.takesValue = true
  if (value.optional) draft.valueOptional = true
  draft.choices = listAlternatives(value.text)
  draft.valueName = quoted ? null : toValueName(value.text)
  if (quoted) draft.default = quoted[1]!
  draft.repeatable ||= takesManyValues(value.text)
}

/** `<FILE>...`, `FOO [FOO ...]`, `<names...>`, and the type names that mean a list. */
function takesManyValues(text: string): boolean {
  return (
    (/\.\.\.[>\]]?$/.test(text) && !/[,:;|=/]\s*\.\.\.[>\]]?$/.test(text) && text !== '...') ||
    /^(?:strings|stringArray|stringSlice|ints|intSlice|stringToString)$/.test(text) ||
    / \[\+\]$/.test(text)
  )
}

function toValueName(text: string): string | null {
  const bare = text
    .replace(/\s*\[\+\]$/, '')
    .replace(/ ?\.\.\.$/, '')
    .trim()
  const words = splitWords(bare)
  const name =
    words.length === 1
      ? bare.replace(/^<([^<>]*?)(?:\.\.\.)?>$/, '$1').replace(/^\(([^()]*)\)$/, '$1')
      : words.map((word) => word.replace(/^<([^<>]*)>$/, '$1')).join(' ')
  return name === '' ? null : name.slice(0, 200)
}

function emptyDraft(description: string): OptionDraft {
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
function joinStackedEntries(entries: readonly HelpFlagEntry[]): HelpFlagEntry[] {
  const joined: HelpFlagEntry[] = []
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
      areNamesOfSameOption(above, entry)
    ) {
      joined[joined.length - 1] = {
        ...entry,
        head: { ...entry.head, specs: [...above.head.specs, ...entry.head.specs] },
      }
    } else joined.push(entry)
  }
  return joined
}

function areNamesOfSameOption(above: HelpFlagEntry, entry: HelpFlagEntry): boolean {
  const short = ({ head }: HelpFlagEntry): boolean =>
    head.specs.every(({ names }) => names.every((name) => isShortName(name)))
  return short(above) !== short(entry) && above.head.specs.length + entry.head.specs.length <= 6
}

/** A flag that every usage line has, outside brackets, has to be given. */
function markRequiredOptions(
  options: OptionCollection,
  usages: readonly (readonly UsageItem[])[],
): void {
  if (usages.length !== 1) return
  for (const item of usages[0]!) {
    const option = item.kind === 'flag' && item.required ? options.find(item.names[0]!) : undefined
    if (option && !/^--?(?:help|version)$/.test(item.names[0]!)) option.required = true
  }
}

/** What a description says about a flag beside its meaning. */
type DescriptionNotices = {
  readonly default: string | null
  readonly choices: readonly string[]
  readonly repeatable: boolean
  readonly required: boolean
  /** A type that is named in the description: whether the flag takes a value. */
  readonly takesValue: boolean | undefined
  /** Other names of the flag that only the description tells. */
  readonly aliases: readonly string[]
}

// All of these are bounded, so that a description of any length costs time in its length only.
const DEFAULT_PATTERNS = [
  /\[defaults?(?: value)?(?: is|:|=) ?([^\]\n]{0,200})\]/i,
  /\(defaults?(?: value)?(?: is|:|=|s? to) ?"([^"\n]{0,200})"/i,
  /\(defaults?(?: value)?(?: is|:|=|s? to) ?([^()\n]{0,200}?)(?:\)|; )/i,
  /\(default "([^"\n]{0,200})"\)/,
  /\(default ([^\s()]{1,200})\)/i,
  /\(=([^()\s]{1,200})\)/,
  /(?:^|[.;,] |\n)defaults?(?: value)?(?: is|:| to|s to) ["'`]?([^\s"'`,;()]{1,100})["'`]?/i,
  /\bdefaults? to ["'`]?([^\s"'`,;()]{1,100})["'`]?/i,
]
const CHOICE_PATTERNS = [
  /\[possible values: ([^\]]{1,2000})\]/i,
  /\[choices: ([^\]]{1,2000})\]/i,
  /\((?:choices|possible values|one of|allowed values|valid values|options)(?::|=| are:?)? ?([^()]{1,2000})\)/i,
  /<options: ([^>]{1,2000})>/i,
  /(?:^|\n|[.;] )(?:possible|allowed|valid|supported) values(?: are)?: ((?:[\w.+-]{1,40}(?:, | or |, or | and |\|)){1,50}[\w.+-]{1,40})/i,
]
const REPEATABLE_PATTERN =
  /\b(?:(?:can|may|could) be (?:repeated|(?:used|given|specified|passed|supplied|provided|set) (?:multiple|several|many|more than)|used more|listed multiple|given repeatedly)|multiple times|more than once|repeatable|several times|cumulative|multiple uses|(?:give|use|specify|repeat) (?:it |this |the option |this option )?(?:twice|repeatedly|again)|multiple allowed|allows multiple|repeat (?:for|to|this))/i
const TYPE_PATTERN = /\[(boolean|string|number|array|count)\]/
const ALIAS_PATTERN =
  /[[(](?:also|aka|alias|aliases|also called)(?::| as)? ((?:--?[A-Za-z?][\w-]{0,40}(?:, | or |, or )?){1,6})[\])]/
const GFLAGS_TYPE_PATTERN = /\btype: (bool|string|int32|int64|uint32|uint64|double)\b/

/** Reads the notices in a description; `lines` keeps its line ends. */
export function readNotices(lines: string): DescriptionNotices {
  const text = lines.length > 6000 ? lines.slice(0, 6000) : lines
  const typed = TYPE_PATTERN.exec(text)?.[1] ?? GFLAGS_TYPE_PATTERN.exec(text)?.[1]
  return {
    default: findDefault(text),
    choices: findChoices(text),
    repeatable:
      (REPEATABLE_PATTERN.test(text) &&
        !/\b(?:cannot|can't|not) be (?:repeated|used more|given more|specified more)/i.test(
          text,
        )) ||
      typed === 'array' ||
      typed === 'count' ||
      /(?:^| )\[\+\]/.test(text),
    required:
      /[[(](?:required|mandatory)[\])]|(?:^|\s)REQUIRED(?:\s|$)|\(REQUIRED\)|\[required[;:,]/i.test(
        text,
      ) && !/(?:not|if|when|is) \(?required/i.test(text),
    aliases:
      ALIAS_PATTERN.exec(text)?.[1]
        ?.split(/,? or |, /)
        .filter((name) => name !== '') ?? [],
    takesValue: typed === undefined ? undefined : !['boolean', 'count', 'bool'].includes(typed),
  }
}

function findDefault(text: string): string | null {
  for (const pattern of DEFAULT_PATTERNS) {
    const found = pattern.exec(text)?.[1]?.trim()
    if (found === undefined || found === '') continue
    const bare = found.replace(/^(["'`])(.*)\1$/, '$2').replace(/[.:]$/, '')
    if (
      !/^(?:the|a|an|when|if|for|on|is|to|in|by|and|value|behaviou?r|none)$/i.test(
        bare.split(' ', 1)[0]!,
      )
    )
      return bare
  }
  return null
}

function findChoices(text: string): readonly string[] {
  for (const pattern of CHOICE_PATTERNS) {
    const found = pattern.exec(text)?.[1]
    if (found === undefined) continue
    const parts = splitChoices(found)
    if (parts.length > 1 && parts.every((part) => /^[^\s"'<>[\](){}]{1,60}$/.test(part)))
      return parts
  }
  return readListedChoices(text)
}

function splitChoices(text: string): string[] {
  const separator = text.includes('|') && !text.includes(',') ? '|' : ','
  const parts = text
    .replace(/,? (?:or|and) /g, ', ')
    .split(separator)
    .map((part) => part.trim().replace(/^(["'`])(.*)\1$/, '$2'))
  return [...new Set(parts.filter((part) => part !== ''))]
}

/** clap lists what is possible line by line. */
function readListedChoices(text: string): string[] {
  const start = text.search(/(?:^|\n)possible values:\n/i)
  if (start < 0) return []
  const choices: string[] = []
  for (const line of text.slice(start).split('\n').slice(1)) {
    const found = /^- ([^\s:]{1,60})(?::|$)/.exec(line)
    if (found) choices.push(found[1]!)
    else if (line.startsWith('- ') || (line === '' && choices.length > 0)) break
  }
  return choices.filter((choice) => choice !== '')
}

/**
 * `[-ABCFG1]` of a usage is a row of one-letter flags; `[-name]` is one flag. Gives the letters, or
 * undefined.
 */
function splitFlagCluster(name: string, isKnown: (flag: string) => boolean): string[] | undefined {
  if (name.startsWith('--') || name.length < 3) return undefined
  const letters = [...name.slice(1)]
  if (new Set(letters).size !== letters.length || isKnown(name)) return undefined
  const flags = letters.map((letter) => `-${letter}`)
  if (flags.every((flag) => isKnown(flag))) return flags
  const folded = letters.map((letter) => letter.toLowerCase())
  const sorted = folded.every((letter, index) => index === 0 || folded[index - 1]! <= letter)
  const mixed =
    /[a-z]/.test(name) && /[A-Z]/.test(name) && !/^-[A-Z]?[a-z]+(?:[A-Z][a-z]+)*$/.test(name)
  const strange = /\d/.test(name) && /[A-Za-z]/.test(name) && letters.length > 3
  return sorted || mixed || strange || !/[aeiouy]/i.test(name) ? flags : undefined
}
