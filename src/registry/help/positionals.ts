import type { HelpPositional } from './help-document.ts'
import { readNotices } from './notices.ts'
import type { Section } from './outline.ts'
import { alternativesIn, wordsOf } from './placeholder.ts'
import { readRows } from './rows.ts'
import type { UsageItem } from './usage.ts'
import { isMarked } from './usage-lines.ts'

// What usage lines write for all flags together, or for the command that comes next.
const NOT_ARGUMENTS =
  /^(?:(?:global|common|main|extra|other|more|short|long|command|tool|subcommand|node|script|build|std|program|general)?[-_ ]?(?:options?|opts?|flags?|switches)|options?_?\.*|\.\.\.|--|;|\+|:=?|&&?|\\|\/|=)$/i
const COMMAND_WORDS = /^(?:sub-?)?(?:commands?|cmd|verb|action|task)$/i
const COMMAND_ARGUMENTS = /^(?:args?|arguments?|parameters?)$/i

/** The arguments that usage lines and sections of arguments name. `hasCommands`: the word for a command is none of them. */
export function collectPositionals(
  written: readonly (readonly UsageItem[])[],
  sections: readonly Section[],
  hasCommands: boolean,
): HelpPositional[] {
  const usages = written.map((items) => promoteWords(items, hasCommands || isMarked(written)))
  const found = new Map<string, { -readonly [key in keyof HelpPositional]: HelpPositional[key] }>()
  const everywhere = new Map<string, number>()
  for (const items of usages) {
    const seen = new Set<string>()
    for (const item of argumentsOf(items, hasCommands)) {
      const key = keyOf(item.names[0]!)
      if (key === '') continue
      if (item.required && !seen.has(key)) everywhere.set(key, (everywhere.get(key) ?? 0) + 1)
      seen.add(key)
      const known = found.get(key)
      if (known) known.repeatable ||= item.repeatable
      else
        found.set(key, {
          name: nameOf(item),
          required: item.required,
          repeatable: item.repeatable,
          choices: item.choices,
          description: '',
        })
    }
  }
  for (const [key, positional] of found) positional.required = everywhere.get(key) === usages.length
  for (const section of sections) {
    if (section.kind !== 'positionals') continue
    for (const row of readRows(section.rows)) {
      const [first = '', ...rest] = wordsOf(row.head.replace(/^\* +/, ''))
      const name = bareName(first)
      if (
        !/^(?:[\p{L}\d][\p{L}\d_.,|/:+@=-]*|\{.*\})$/u.test(name) ||
        name.includes('//') ||
        (hasCommands && /^\{.*\}$/.test(name)) ||
        rest.length > 3 ||
        NOT_ARGUMENTS.test(name) ||
        name.startsWith('-')
      )
        continue
      const notices = readNotices(row.description)
      const choices = alternativesIn(first).length > 0 ? alternativesIn(first) : notices.choices
      const description = row.description.replace(/\s+/g, ' ').trim()
      const known =
        found.get(keyOf(name)) ??
        (found.size === 1 && usages.length === 1 && choices.length > 1
          ? [...found.values()][0]
          : undefined)
      if (known) {
        if (known.description === '') known.description = description
        if (known.choices.length === 0) known.choices = choices
      } else if (hasCommands && COMMAND_WORDS.test(name)) continue
      else
        found.set(keyOf(name), {
          name,
          required: notices.required || /^<.*>/.test(first),
          repeatable: first.endsWith('...') || rest.includes('...'),
          choices,
          description,
        })
    }
  }
  return [...found.values()]
}

/** Plain words behind the first flag or bracket are placeholders; those right behind the program are too where nothing is marked and no flag follows: `prog add [-h] name`, `kill pid`. */
function promoteWords(items: readonly UsageItem[], marked: boolean): UsageItem[] {
  let leading = true
  const named = marked || items.some(({ kind }) => kind === 'flag')
  return items.map((item, index) => {
    if (item.kind !== 'word') leading = false
    return item.kind === 'word' && (!leading || (!named && index > 0))
      ? { ...item, kind: 'argument' }
      : item
  })
}

function argumentsOf(items: readonly UsageItem[], hasCommands: boolean): UsageItem[] {
  const chosen: UsageItem[] = []
  let command = false
  for (const item of items) {
    if (item.kind !== 'argument') continue
    const name = bareName(item.names[0]!)
    if (NOT_ARGUMENTS.test(name) || item.commands) continue
    if (hasCommands && COMMAND_WORDS.test(name)) command = true
    else if (
      !(command && COMMAND_ARGUMENTS.test(name)) &&
      !(hasCommands && item.choices.length > 0)
    )
      chosen.push(item)
  }
  return chosen
}

function nameOf(item: UsageItem): string {
  return item.choices.length > 0
    ? item.names[0]!.includes('{')
      ? 'choice'
      : bareName(item.names[0]!)
    : bareName(item.names[0]!)
}

function bareName(written: string): string {
  return written
    .replace(/\.\.\.$/, '')
    .replace(/^[<[]+/, '')
    .replace(/[\]>]+$/, '')
    .replace(/\.\.\.$/, '')
    .replace(/:$/, '')
    .trim()
}

function keyOf(name: string): string {
  return bareName(name).toLowerCase().replace(/[\s-]/g, '_').replace(/s$/, '')
}
