/**
 * Collects the commands and positional arguments of a help text.
 */

import { compact } from '../../util/values.ts'
import type { HelpRow } from './layout.ts'
import { readHelpRows } from './layout.ts'
import { readNotices } from './options.ts'
import type { HelpCommand, HelpPositional, HelpSection } from './sections.ts'
import { listAlternatives, splitWords } from './tokens.ts'
import type { UsageItem, UsageLines } from './usage.ts'
import { COMMAND_NAME, hasMarkedPlaceholders } from './usage.ts'

const LISTED_COMMAND = /^[\p{L}\d[][\p{L}\d_:.@+[-]*$/u

/** The sub-commands that sections of commands, lists of choices and usage lines name. */
export function collectCommands(
  { own: usages, commands }: UsageLines,
  sections: readonly HelpSection[],
): HelpCommand[] {
  const found = new Map<string, { -readonly [key in keyof HelpCommand]: HelpCommand[key] }>()
  const add = (command: HelpCommand): void => {
    const known = found.get(command.name)
    if (!known) found.set(command.name, { ...command })
    else if (known.description === '') known.description = command.description
  }
  const program = usages[0]?.[0]?.kind === 'word' ? usages[0][0].names[0]! : ''
  const chosen = new Set(
    usages.flatMap((items) =>
      items.filter(({ commands }) => commands).flatMap(({ choices }) => choices),
    ),
  )
  for (const section of sections) {
    if (section.kind === 'commands') readCommandTable(section, program).forEach(add)
    else if (section.kind !== 'examples') readNestedCommands(section, chosen).forEach(add)
    if (section.kind === 'positionals') readCommandsBelowPlaceholder(section).forEach(add)
  }
  const aliases = new Set([...found.values()].flatMap((command) => command.aliases ?? []))
  for (const name of chosen) if (!aliases.has(name)) add({ name, description: '' })
  for (const name of commands) add({ name, description: '' })
  return [...found.values()]
}

function readCommandTable(section: HelpSection, program: string): HelpCommand[] {
  const listed = readCommandLists(section)
  if (listed.length > 0) return listed.map((name) => ({ name, description: '' }))
  const rows = readHelpRows(section.rows)
  // yargs writes the program before each of its commands.
  return rows.flatMap(
    (row) =>
      toHelpCommand(
        program !== '' && row.head.startsWith(`${program} `)
          ? { ...row, head: row.head.slice(program.length + 1) }
          : row,
      ) ?? [],
  )
}

/** Names separated by commas, or in columns: no descriptions at all. */
function readCommandLists(section: HelpSection): string[] {
  const lines = section.rows.filter(({ indent }) => indent >= 0).map(({ text }) => text.trim())
  const commas = lines.filter((line) =>
    /^[^\s,]+,(?: ?[^\s,]+,)* ?[^\s,]*$/.test(line.slice(0, 300)),
  )
  if (commas.length > 0 && commas.length >= lines.length / 2)
    return uniqueCommandNames(
      lines.filter((line) => line.includes(',')).flatMap((line) => line.split(/, */)),
    )
  const columns = lines.filter(
    (line) =>
      /^\S+(?: +\S+){2,}$/.test(line) &&
      /\S {2,}\S/.test(line) &&
      line.split(/ +/).every((word) => LISTED_COMMAND.test(word)),
  )
  return columns.length >= 2 &&
    columns.length >= lines.length * 0.7 &&
    lines.every((line) => line.split(/ {2,}/).every((word) => !word.includes(' ')))
    ? uniqueCommandNames(lines.flatMap((line) => line.split(/ +/)))
    : []
}

function uniqueCommandNames(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.trim()).filter((name) => LISTED_COMMAND.test(name)))]
}

/** `install, i`, `install|i [options] <name>`, `checkout (co)`, `list-units [PATTERN...]`. */
function toHelpCommand(row: HelpRow): HelpCommand | undefined {
  const alternatives = /^([^\s,|(]+)((?:(?:, ?|\|)[^\s,|()]+)*)(?: \(([^()]+)\))?/.exec(
    row.head.slice(0, 200),
  )
  if (!alternatives) return undefined
  const name = alternatives[1]!.replace(/[*:]$/, '')
  const rest = row.head.slice(alternatives[0].length).trim()
  if (!COMMAND_NAME.test(name)) return undefined
  if (
    rest !== '' &&
    !splitWords(rest).every(
      (word) =>
        /^[[<{(]|^[A-Z0-9_.|=-]+$|^\.\.\.$|^-|^\|/.test(word) ||
        (row.description !== '' && splitWords(rest).length <= 3 && !row.below),
    )
  )
    return undefined
  if (row.description === '' && (row.indent === 0 || /^[A-Z][a-z]/.test(name))) return undefined
  const noted = /[[(]alias(?:es)?: ([^\])]{1,200})[\])]/.exec(row.description)?.[1]
  const aliases = [
    ...alternatives[2]!.split(/[,|] ?/),
    ...(alternatives[3] ?? '').split(/, ?/),
    ...(noted ?? '').split(/, ?/),
  ].filter((alias) => COMMAND_NAME.test(alias) && alias !== name)
  return compact({
    name,
    aliases: aliases.length > 0 ? [...new Set(aliases)] : undefined,
    description: row.description.replace(/\s+/g, ' ').trim(),
  })
}

/** Commands under a line that only says `COMMAND`. */
function readCommandsBelowPlaceholder(section: HelpSection): HelpCommand[] {
  const at = section.rows.findIndex(({ text }) =>
    /^<?(?:sub-?)?(?:command|action|cmd|COMMAND|SUBCOMMAND|ACTION)>?$/.test(text.trim()),
  )
  const title = section.rows[at]
  if (!title) return []
  const end = section.rows.findIndex(
    ({ indent }, index) => index > at && indent >= 0 && indent <= title.indent,
  )
  return readHelpRows(section.rows.slice(at + 1, end < 0 ? undefined : end)).flatMap((row) =>
    row.description === '' ? [] : (toHelpCommand(row) ?? []),
  )
}

/** argparse lists its commands under a line `{a,b}`, one step to the right. */
function readNestedCommands(section: HelpSection, chosen: ReadonlySet<string>): HelpCommand[] {
  if (chosen.size === 0) return []
  const found: HelpCommand[] = []
  for (const { text, indent } of section.rows) {
    const match = /^([^\s(]+)(?: \(([^()]+)\))?(?: {2,}(.*))?$/.exec(text.trim())
    if (indent < 0 || !match || !chosen.has(match[1]!)) continue
    const aliases = (match[2] ?? '').split(/, ?/).filter((alias) => COMMAND_NAME.test(alias))
    found.push(
      compact({
        name: match[1]!,
        aliases: aliases.length > 0 ? aliases : undefined,
        description: match[3]?.trim() ?? '',
      }),
    )
  }
  return found
}

// What usage lines write for all flags together, or for the command that comes next.
const NON_ARGUMENT_WORDS =
  /^(?:(?:global|common|main|extra|other|more|short|long|command|tool|subcommand|node|script|build|std|program|general)?[-_ ]?(?:options?|opts?|flags?|switches)|options?_?\.*|\.\.\.|--|;|\+|:=?|&&?|\\|\/|=)$/i
const COMMAND_WORDS = /^(?:sub-?)?(?:commands?|cmd|verb|action|task)$/i
const COMMAND_ARGUMENTS = /^(?:args?|arguments?|parameters?)$/i

/**
 * The arguments that usage lines and sections of arguments name. `hasCommands`: the word for a
 * command is none of them.
 */
export function collectPositionals(
  written: readonly (readonly UsageItem[])[],
  sections: readonly HelpSection[],
  hasCommands: boolean,
): HelpPositional[] {
  const usages = written.map((items) =>
    promotePlainWords(items, hasCommands || hasMarkedPlaceholders(written)),
  )
  const found = new Map<string, { -readonly [key in keyof HelpPositional]: HelpPositional[key] }>()
  const everywhere = new Map<string, number>()
  for (const items of usages) {
    const seen = new Set<string>()
    for (const item of listArguments(items, hasCommands)) {
      const key = toPositionalKey(item.names[0]!)
      if (key === '') continue
      if (item.required && !seen.has(key)) everywhere.set(key, (everywhere.get(key) ?? 0) + 1)
      seen.add(key)
      const known = found.get(key)
      if (known) known.repeatable ||= item.repeatable
      else
        found.set(key, {
          name: toPositionalName(item),
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
    for (const row of readHelpRows(section.rows)) {
      const [first = '', ...rest] = splitWords(row.head.replace(/^\* +/, ''))
      const name = stripBrackets(first)
      if (
        !/^(?:[\p{L}\d][\p{L}\d_.,|/:+@=-]*|\{.*\})$/u.test(name) ||
        name.includes('//') ||
        (hasCommands && /^\{.*\}$/.test(name)) ||
        rest.length > 3 ||
        NON_ARGUMENT_WORDS.test(name) ||
        name.startsWith('-')
      )
        continue
      const notices = readNotices(row.description)
      const choices = listAlternatives(first).length > 0 ? listAlternatives(first) : notices.choices
      const description = row.description.replace(/\s+/g, ' ').trim()
      const known =
        found.get(toPositionalKey(name)) ??
        (found.size === 1 && usages.length === 1 && choices.length > 1
          ? [...found.values()][0]
          : undefined)
      if (known) {
        if (known.description === '') known.description = description
        if (known.choices.length === 0) known.choices = choices
      } else if (hasCommands && COMMAND_WORDS.test(name)) continue
      else
        found.set(toPositionalKey(name), {
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

/**
 * Plain words behind the first flag or bracket are placeholders; those right behind the program are
 * too where nothing is marked and no flag follows: `prog add [-h] name`, `kill pid`.
 */
function promotePlainWords(items: readonly UsageItem[], marked: boolean): UsageItem[] {
  let leading = true
  const named = marked || items.some(({ kind }) => kind === 'flag')
  return items.map((item, index) => {
    if (item.kind !== 'word') leading = false
    return item.kind === 'word' && (!leading || (!named && index > 0))
      ? { ...item, kind: 'argument' }
      : item
  })
}

function listArguments(items: readonly UsageItem[], hasCommands: boolean): UsageItem[] {
  const chosen: UsageItem[] = []
  let command = false
  for (const item of items) {
    if (item.kind !== 'argument') continue
    const name = stripBrackets(item.names[0]!)
    if (NON_ARGUMENT_WORDS.test(name) || item.commands) continue
    if (hasCommands && COMMAND_WORDS.test(name)) command = true
    else if (
      !(command && COMMAND_ARGUMENTS.test(name)) &&
      !(hasCommands && item.choices.length > 0)
    )
      chosen.push(item)
  }
  return chosen
}

function toPositionalName(item: UsageItem): string {
  const [name = ''] = item.names
  return item.choices.length > 0 && name.includes('{') ? 'choice' : stripBrackets(name)
}

function stripBrackets(written: string): string {
  return written
    .replace(/\.\.\.$/, '')
    .replace(/^[<[]+/, '')
    .replace(/[\]>]+$/, '')
    .replace(/\.\.\.$/, '')
    .replace(/:$/, '')
    .trim()
}

function toPositionalKey(name: string): string {
  return stripBrackets(name).toLowerCase().replace(/[\s-]/g, '_').replace(/s$/, '')
}
