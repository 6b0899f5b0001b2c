/**
 * Parses the arguments up to the tool: program flags, the tool, group or built-in command that is
 * named, and the words that belong to it.
 */

import { toLookupKey } from '../core/call.ts'
import type { Servable, ToolEntry } from '../core/provider.ts'
import type { ParsedFlag } from '../define/argv.ts'
import { createFlagTable, readGlobalFlags, scanArgv } from '../define/argv.ts'
import type { GlobalFlags } from '../define/global-flags.ts'
import { GLOBAL_FLAGS, PROGRAM_FLAGS, SERVING_FLAGS } from '../define/global-flags.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { findClosest, shorten } from '../util/text.ts'
import { COMPLETE_COMMAND } from './builtin-names.ts'
import { BUILTIN_COMMANDS } from './builtin-words.ts'

/**
 * What the arguments name: the program itself, a group, a built-in command, or a tool with the
 * arguments that belong to it.
 */
export type ParsedCommand = {
  readonly globals: GlobalFlags
  readonly problem?: ToolError | undefined
  /** Found among the built-in commands, whose name is never left out. */
  readonly builtin?: true
} & (
  | { readonly kind: 'program' }
  | { readonly kind: 'group'; readonly path: readonly string[] }
  | { readonly kind: 'builtin'; readonly name: string; readonly rest: readonly string[] }
  | {
      readonly kind: 'tool'
      readonly entry: ToolEntry
      readonly single: boolean
      readonly tokens: readonly string[]
      /** Nothing at all was given. */
      readonly bare?: boolean
    }
)

/** Reads the arguments up to the tool. Program flags act only here, before the tool name. */
export function parseCommand(set: Servable, argv: readonly string[]): ParsedCommand {
  const { entries } = set
  const only = entries.length === 1 ? entries[0] : undefined
  const servingFlags = mayServeMcp(argv) ? SERVING_FLAGS : []
  const scanned = scanArgv(argv, createFlagTable([], PROGRAM_FLAGS, GLOBAL_FLAGS, servingFlags), {
    stopAtWord: true,
    stopAtUnknown: only !== undefined,
    stopAfter: SERVE_MCP_FLAG,
    // The only tool's own fields win over program flags, because its name may be left out.
    isUnknown: only && ((long) => long !== 'help' && only.definition.flagNames().has(long)),
  })
  const serving = splitServingFlags(scanned.flags)
  const globals: GlobalFlags = {}
  const problem = readGlobalFlags(globals, serving.others) ?? serving.problem ?? scanned.problem
  const rest = argv.slice(scanned.end)
  const base = { globals, problem }
  if (serving.words)
    return { ...base, kind: 'builtin', name: 'mcp', rest: [...serving.words, ...rest] }

  const [word] = rest
  if (word === 'help' && !entries.some(({ path }) => path[0] === 'help') && !only)
    return parseCommand(set, [...argv.slice(0, scanned.end), ...rest.slice(1), '--help'])
  if (globals.asked && (word === undefined || !only)) {
    const extra = word === undefined ? undefined : extraWordError(globals.asked.what, word)
    return { globals, problem: problem ?? extra, kind: 'program' }
  }
  if (word === undefined) {
    if (!only || globals.help) return { ...base, kind: 'program' }
    const bare = scanned.flags.length === 0
    return { ...base, kind: 'tool', entry: only, single: true, tokens: [], bare }
  }

  const found = matchPath(entries, rest)
  if (found?.entry)
    return {
      ...base,
      kind: 'tool',
      entry: found.entry,
      single: only !== undefined && found.used === 0,
      tokens: rest.slice(found.used),
    }
  if (word === COMPLETE_COMMAND || (!found && isBuiltinName(rest, only)))
    return { ...base, kind: 'builtin', name: word, rest: rest.slice(1) }
  if (only) return { ...base, kind: 'tool', entry: only, single: true, tokens: rest }
  readOutputFlags(globals, rest)
  if (found) return toGroupCommand(found, rest, entries, base)
  return { ...base, kind: 'program', problem: problem ?? unknownCommandError(word, entries) }
}

/** Finds a built-in command by its words, the first of which is known to be right. */
export function parseBuiltinCommand(
  entries: readonly ToolEntry[],
  words: readonly string[],
  { globals, problem }: Pick<ParsedCommand, 'globals' | 'problem'>,
): ParsedCommand & { kind: 'tool' | 'group' } {
  const base = { globals, problem, builtin: true as const }
  const found = matchPath(entries, words)!
  if (found.entry)
    return {
      ...base,
      kind: 'tool',
      entry: found.entry,
      single: false,
      tokens: words.slice(found.used),
    }
  readOutputFlags(globals, words)
  return toGroupCommand(found, words, entries, base)
}

function toGroupCommand(
  { group, used }: PathMatch,
  words: readonly string[],
  entries: readonly ToolEntry[],
  base: Pick<ParsedCommand, 'globals' | 'problem'>,
): ParsedCommand & { kind: 'group' } {
  const next = words[used]
  const isHelp = next === undefined || next === '--help' || next === '-h'
  const unknown = isHelp ? undefined : unknownCommandError(`${group.join(' ')} ${next}`, entries)
  return { ...base, kind: 'group', path: group, problem: base.problem ?? unknown }
}

// How to print is read even where nothing can be run. Help is not: the error says more.
function readOutputFlags(globals: GlobalFlags, words: readonly string[]): void {
  const { flags } = scanArgv(words, createFlagTable([], PROGRAM_FLAGS, GLOBAL_FLAGS))
  readGlobalFlags(
    globals,
    flags.filter(({ flag }) => !PROGRAM_FLAGS.includes(flag.globalFlag!)),
  )
}

// Where the only tool takes words, the first of them may happen to be the name of a command; with
// its sub-word it is meant.
function isBuiltinName([word, next]: readonly string[], only: ToolEntry | undefined): boolean {
  const builtin = BUILTIN_COMMANDS.find(({ name }) => name === word)
  return (
    builtin !== undefined &&
    (!only ||
      only.definition.metadata.positional.length === 0 ||
      (next !== undefined && builtin.words.includes(next)))
  )
}

type PathMatch = {
  readonly entry?: ToolEntry
  readonly group: readonly string[]
  readonly used: number
}

// `pr list`, `pr_list` and `pr-list` all name the same tool.
function matchPath(entries: readonly ToolEntry[], words: readonly string[]): PathMatch | undefined {
  const keys = words.map(toLookupKey)
  for (const entry of entries)
    if (toLookupKey(entry.name) === keys[0]) return { entry, group: [], used: 1 }
  let candidates = entries
  let used = 0
  while (used < words.length) {
    const next: ToolEntry[] = []
    for (const entry of candidates)
      if (toLookupKey(entry.path[used] ?? '') === keys[used]) next.push(entry)
    if (next.length === 0) break
    used++
    const entry = next.find(({ path }) => path.length === used)
    if (entry) return { entry, group: [], used }
    candidates = next
  }
  return used > 0 ? { group: candidates[0]!.path.slice(0, used), used } : undefined
}

function unknownCommandError(words: string, entries: readonly ToolEntry[]): ToolError {
  const names = new Set([
    ...entries.flatMap(({ path }) =>
      path.map((_word, index) => path.slice(0, index + 1).join(' ')),
    ),
    ...BUILTIN_COMMANDS.map(({ name }) => name),
  ])
  const shown = shorten(words, 60)
  const meant = findClosest(words, names)
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

function extraWordError(what: string, word: string): ToolError {
  return new ToolError('USAGE', `--${what} stands alone; '${word.slice(0, 60)}' is too much`, {
    suggestion: `Ask about one tool with: <tool> --${what}`,
  })
}

/** The flag that is short for `mcp serve`. */
const SERVE_MCP_FLAG = 'serve-mcp'

/**
 * True when the arguments may hold the flag, so that the flags which go with it have to be known.
 */
function mayServeMcp(argv: readonly string[]): boolean {
  return argv.some(
    (word) => word === `--${SERVE_MCP_FLAG}` || word.startsWith(`--${SERVE_MCP_FLAG}=`),
  )
}

/** The program flags without those for serving, and the words after `mcp` that these mean. */
function splitServingFlags(flags: readonly ParsedFlag[]): {
  readonly others: readonly ParsedFlag[]
  readonly words?: readonly string[]
  readonly problem?: ToolError
} {
  const asked = flags.find(({ flag }) => flag.long === SERVE_MCP_FLAG)
  const own = flags.filter(({ flag }) => flag.globalFlag && SERVING_FLAGS.includes(flag.globalFlag))
  const others = flags.filter((given) => given !== asked && !own.includes(given))
  if (asked) {
    const words = ['serve', '--transport', ...asked.values, ...own.flatMap(toServingWords)]
    return { others, words }
  }
  if (!own[0]) return { others }
  const problem = new ToolError(
    'USAGE',
    `${own[0].written} goes with --${SERVE_MCP_FLAG}, which stands too late here`,
    { suggestion: `Write --${SERVE_MCP_FLAG} <transport> before the name of a tool` },
  )
  return { others, problem }
}

function toServingWords({ flag, written, values }: ParsedFlag): string[] {
  return flag.valueCount === 0 && values[0] !== undefined
    ? [`${written}=${values[0]}`]
    : [written, ...values]
}
