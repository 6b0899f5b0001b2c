import type { HelpCommand } from './help-document.ts'
import type { Section } from './outline.ts'
import { wordsOf } from './placeholder.ts'
import type { Row } from './rows.ts'
import { readRows } from './rows.ts'
import type { UsageLines } from './usage-lines.ts'

const NAME = /^[\p{L}\d][\p{L}\d_:.@+/-]*$/u
const LISTED = /^[\p{L}\d[][\p{L}\d_:.@+[-]*$/u

/** The sub-commands that sections of commands, lists of choices and usage lines name. */
export function collectCommands(
  { own: usages, commands }: UsageLines,
  sections: readonly Section[],
): HelpCommand[] {
  const found = new Map<string, { -readonly [key in keyof HelpCommand]: HelpCommand[key] }>()
  const add = (name: string, aliases: readonly string[], description: string): void => {
    const known = found.get(name)
    if (known) {
      if (known.description === '') known.description = description
    } else found.set(name, { name, ...(aliases.length > 0 && { aliases }), description })
  }
  const program = usages[0]?.[0]?.kind === 'word' ? usages[0][0].names[0]! : ''
  const chosen = new Set(
    usages.flatMap((items) =>
      items.filter(({ commands }) => commands).flatMap(({ choices }) => choices),
    ),
  )
  for (const section of sections) {
    if (section.kind === 'commands')
      for (const command of tableOf(section, program))
        add(command.name, command.aliases ?? [], command.description)
    else if (section.kind !== 'examples')
      for (const command of nestedIn(section, chosen))
        add(command.name, command.aliases ?? [], command.description)
    if (section.kind === 'positionals')
      for (const command of underPlaceholder(section))
        add(command.name, command.aliases ?? [], command.description)
  }
  const aliases = new Set([...found.values()].flatMap((command) => command.aliases ?? []))
  for (const name of chosen) if (!aliases.has(name)) add(name, [], '')
  for (const name of commands) add(name, [], '')
  return [...found.values()]
}

function tableOf(section: Section, program: string): HelpCommand[] {
  const listed = readLists(section)
  if (listed.length > 0) return listed.map((name) => ({ name, description: '' }))
  const rows = readRows(section.rows)
  // yargs writes the program before each of its commands.
  return rows.flatMap(
    (row) =>
      commandOf(
        program !== '' && row.head.startsWith(`${program} `)
          ? { ...row, head: row.head.slice(program.length + 1) }
          : row,
      ) ?? [],
  )
}

/** Names separated by commas, or in columns: no descriptions at all. */
function readLists(section: Section): string[] {
  const lines = section.rows.filter(({ indent }) => indent >= 0).map(({ text }) => text.trim())
  const commas = lines.filter((line) =>
    /^[^\s,]+,(?: ?[^\s,]+,)* ?[^\s,]*$/.test(line.slice(0, 300)),
  )
  if (commas.length > 0 && commas.length >= lines.length / 2)
    return unique(lines.filter((line) => line.includes(',')).flatMap((line) => line.split(/, */)))
  const columns = lines.filter(
    (line) =>
      /^\S+(?: +\S+){2,}$/.test(line) &&
      /\S {2,}\S/.test(line) &&
      line.split(/ +/).every((word) => LISTED.test(word)),
  )
  return columns.length >= 2 &&
    columns.length >= lines.length * 0.7 &&
    lines.every((line) => line.split(/ {2,}/).every((word) => !word.includes(' ')))
    ? unique(lines.flatMap((line) => line.split(/ +/)))
    : []
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.trim()).filter((name) => LISTED.test(name)))]
}

/** `install, i`, `install|i [options] <name>`, `checkout (co)`, `list-units [PATTERN...]`. */
function commandOf(row: Row): HelpCommand | undefined {
  const alternatives = /^([^\s,|(]+)((?:(?:, ?|\|)[^\s,|()]+)*)(?: \(([^()]+)\))?/.exec(
    row.head.slice(0, 200),
  )
  if (!alternatives) return undefined
  const name = alternatives[1]!.replace(/[*:]$/, '')
  const rest = row.head.slice(alternatives[0].length).trim()
  if (!NAME.test(name)) return undefined
  if (
    rest !== '' &&
    !wordsOf(rest).every(
      (word) =>
        /^[[<{(]|^[A-Z0-9_.|=-]+$|^\.\.\.$|^-|^\|/.test(word) ||
        (row.description !== '' && wordsOf(rest).length <= 3 && !row.below),
    )
  )
    return undefined
  if (row.description === '' && (row.indent === 0 || /^[A-Z][a-z]/.test(name))) return undefined
  const noted = /[[(]alias(?:es)?: ([^\])]{1,200})[\])]/.exec(row.description)?.[1]
  const aliases = [
    ...alternatives[2]!.split(/[,|] ?/),
    ...(alternatives[3] ?? '').split(/, ?/),
    ...(noted ?? '').split(/, ?/),
  ].filter((alias) => NAME.test(alias) && alias !== name)
  return {
    name,
    ...(aliases.length > 0 && { aliases: [...new Set(aliases)] }),
    description: row.description.replace(/\s+/g, ' ').trim(),
  }
}

/** Commands under a line that only says `COMMAND`. */
function underPlaceholder(section: Section): HelpCommand[] {
  const at = section.rows.findIndex(({ text }) =>
    /^<?(?:sub-?)?(?:command|action|cmd|COMMAND|SUBCOMMAND|ACTION)>?$/.test(text.trim()),
  )
  const title = section.rows[at]
  if (!title) return []
  const end = section.rows.findIndex(
    ({ indent }, index) => index > at && indent >= 0 && indent <= title.indent,
  )
  return readRows(section.rows.slice(at + 1, end < 0 ? undefined : end)).flatMap((row) =>
    row.description === '' ? [] : (commandOf(row) ?? []),
  )
}

/** argparse lists its commands under a line `{a,b}`, one step to the right. */
function nestedIn(section: Section, chosen: ReadonlySet<string>): HelpCommand[] {
  if (chosen.size === 0) return []
  const found: HelpCommand[] = []
  for (const { text, indent } of section.rows) {
    const match = /^([^\s(]+)(?: \(([^()]+)\))?(?: {2,}(.*))?$/.exec(text.trim())
    if (indent < 0 || !match || !chosen.has(match[1]!)) continue
    const aliases = (match[2] ?? '').split(/, ?/).filter((alias) => NAME.test(alias))
    found.push({
      name: match[1]!,
      ...(aliases.length > 0 && { aliases }),
      description: match[3]?.trim() ?? '',
    })
  }
  return found
}
