import { closest } from '../../../contract/did-you-mean.ts'
import { shorten } from '../../../contract/shorten.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import { INJECTED_FLAGS, PROGRAM_FLAGS, SERVING_FLAGS } from '../../../define/flags/injected.ts'
import { lookupKey } from '../../../define/names.ts'
import type { ToolEntry } from '../../../call/collect.ts'
import type { Servable } from '../../../call/servable.ts'
import { BUILTIN_COMMANDS, COMPLETE_COMMAND } from '../builtin-commands.ts'
import { flagTable } from '../../../define/argv/flag-table.ts'
import type { FlagTable } from '../../../define/argv/flag-table.ts'
import { emptyGlobals, readGlobals } from './globals.ts'
import type { Globals } from './globals.ts'
import { scan } from '../../../define/argv/scan.ts'
import { SERVE_FLAG, mayServe, splitServing } from './serving.ts'

/** What the arguments name: the program itself, a group, a built-in command, or a tool with the arguments that belong to it. */
export type Command = {
  readonly globals: Globals
  readonly problem?: ToolError | undefined
  /** Found among the built-in commands, whose name is never left out. */ readonly builtin?: true
} & (
  | { readonly kind: 'program' }
  | { readonly kind: 'group'; readonly path: readonly string[] }
  | { readonly kind: 'builtin'; readonly name: string; readonly rest: readonly string[] }
  | {
      readonly kind: 'tool'
      readonly entry: ToolEntry
      readonly single: boolean
      readonly tokens: readonly string[]
      /** Nothing at all was given. */ readonly bare?: true
    }
)

/** Reads the arguments up to the tool. Program flags act only here, before the tool name. */
export function findCommand(set: Servable, argv: readonly string[]): Command {
  const entries = set.entries
  const only = entries.length === 1 ? entries[0] : undefined
  const table = flagTable([], PROGRAM_FLAGS, INJECTED_FLAGS, mayServe(argv) ? SERVING_FLAGS : [])
  const scanned = scan(argv, only ? yieldingTo(only, table) : table, {
    stopAtWord: true,
    stopAtUnknown: only !== undefined,
    stopBehind: SERVE_FLAG,
  })
  const serving = splitServing(scanned.flags)
  const globals = emptyGlobals()
  const problem = readGlobals(globals, serving.others) ?? serving.problem ?? scanned.problem
  const rest = argv.slice(scanned.end)
  const base = { globals, problem }
  if (serving.words)
    return { ...base, kind: 'builtin', name: 'mcp', rest: [...serving.words, ...rest] }

  const [word] = rest
  if (word === 'help' && !entries.some(({ path }) => path[0] === 'help') && !only)
    return findCommand(set, [...argv.slice(0, scanned.end), ...rest.slice(1), '--help'])
  if (globals.asked && (word === undefined || !only))
    return {
      ...base,
      kind: 'program',
      ...(word !== undefined && !problem && { problem: strayWord(globals, word) }),
    }
  if (word === undefined)
    return only && !globals.help
      ? {
          ...base,
          kind: 'tool',
          entry: only,
          single: true,
          tokens: [],
          ...(scanned.flags.length === 0 && { bare: true as const }),
        }
      : { ...base, kind: 'program' }

  const found = walk(entries, rest)
  if (found?.entry)
    return {
      ...base,
      kind: 'tool',
      entry: found.entry,
      single: only !== undefined && found.used === 0,
      tokens: rest.slice(found.used),
    }
  if (word === COMPLETE_COMMAND || (!found && namesBuiltin(rest, only)))
    return { ...base, kind: 'builtin', name: word, rest: rest.slice(1) }
  if (only) return { ...base, kind: 'tool', entry: only, single: true, tokens: rest }
  readPrinting(globals, rest)
  if (found) return inGroup(found, rest, entries, base)
  return { ...base, kind: 'program', problem: problem ?? unknownCommand(word, entries) }
}

/** Finds a built-in command by its words, the first of which is known to be right. */
export function findBuiltin(
  entries: readonly ToolEntry[],
  words: readonly string[],
  { globals, problem }: Pick<Command, 'globals' | 'problem'>,
): Command & { kind: 'tool' | 'group' } {
  const base = { globals, problem, builtin: true as const }
  const found = walk(entries, words)!
  if (found.entry)
    return {
      ...base,
      kind: 'tool',
      entry: found.entry,
      single: false,
      tokens: words.slice(found.used),
    }
  readPrinting(globals, words)
  return inGroup(found, words, entries, base)
}

function inGroup(
  { group, used }: Walked,
  words: readonly string[],
  entries: readonly ToolEntry[],
  base: Pick<Command, 'globals' | 'problem'>,
): Command & { kind: 'group' } {
  const next = words[used]
  if (next === undefined || next === '--help' || next === '-h')
    return { ...base, kind: 'group', path: group }
  return {
    ...base,
    kind: 'group',
    path: group,
    problem: base.problem ?? unknownCommand(`${group.join(' ')} ${next}`, entries),
  }
}

// How to print is read even where nothing can be run.
function readPrinting(globals: Globals, words: readonly string[]): void {
  readGlobals(
    globals,
    scan(words, flagTable([], PROGRAM_FLAGS, INJECTED_FLAGS)).flags.filter(
      ({ flag }) => flag.injected && INJECTED_FLAGS.includes(flag.injected),
    ),
  )
}

// Where the only tool takes words, the first of them may happen to be the name of a command; with its sub-word it is meant.
function namesBuiltin([word, next]: readonly string[], only: ToolEntry | undefined): boolean {
  const builtin = BUILTIN_COMMANDS.find(({ name }) => name === word)
  return (
    builtin !== undefined &&
    (!only ||
      only.definition.facts.positional.length === 0 ||
      (next !== undefined && builtin.words.includes(next)))
  )
}

// The only tool's own fields win over program flags, because its name may be left out.
function yieldingTo({ definition }: ToolEntry, table: FlagTable): FlagTable {
  let own: ReadonlySet<string> | undefined
  return {
    short: table.short,
    get names() {
      return table.names
    },
    long(name) {
      const flag = table.long(name)
      return flag && flag.long !== 'help' && (own ??= definition.flagNames()).has(flag.long)
        ? undefined
        : flag
    },
  }
}

type Walked = {
  readonly entry?: ToolEntry
  readonly group: readonly string[]
  readonly used: number
}

// `pr list`, `pr_list` and `pr-list` all name the same tool.
function walk(entries: readonly ToolEntry[], words: readonly string[]): Walked | undefined {
  const first = lookupKey(words[0]!)
  const whole = entries.find(({ name }) => lookupKey(name) === first)
  if (whole) return { entry: whole, group: [], used: 1 }
  let candidates = entries
  let used = 0
  while (used < words.length) {
    const word = lookupKey(words[used]!)
    const next = candidates.filter(({ path }) => lookupKey(path[used] ?? '') === word)
    if (next.length === 0) break
    used++
    const entry = next.find(({ path }) => path.length === used)
    if (entry) return { entry, group: [], used }
    candidates = next
  }
  return used > 0 ? { group: candidates[0]!.path.slice(0, used), used } : undefined
}

function unknownCommand(words: string, entries: readonly ToolEntry[]): ToolError {
  const names = new Set([
    ...entries.flatMap(({ path }) =>
      path.map((_word, index) => path.slice(0, index + 1).join(' ')),
    ),
    ...BUILTIN_COMMANDS.map(({ name }) => name),
  ])
  const shown = shorten(words, 60)
  const meant = closest(words, names)
  return new ToolError(
    'USAGE',
    `unknown command '${shown}'${meant ? `; did you mean '${meant}'?` : ''}`,
    {
      suggestion: meant
        ? `Use '${meant}'`
        : `The commands are ${entries
            .map(({ path }) => path.join(' '))
            .slice(0, 20)
            .join(', ')}`,
    },
  )
}

function strayWord({ asked }: Globals, word: string): ToolError {
  return new ToolError(
    'USAGE',
    `--${asked!.what} stands alone; '${word.slice(0, 60)}' is too much`,
    { suggestion: `Ask about one tool with: <tool> --${asked!.what}` },
  )
}
