/**
 * Parses the words before the cursor: which command is being written, and which flags may follow.
 */

import {
  getItemSchema,
  getPathKind,
  readFlagValue,
  readInputFields,
  toFlagSpecs,
} from '../define/flag-specs.ts'
import type { FlagSpec, GlobalFlag } from '../define/global-flags.ts'
import { CONTROL_FLAGS, GLOBAL_FLAGS, PROGRAM_FLAGS } from '../define/global-flags.ts'
import type { ToolsetManifest } from '../protocol/manifest.ts'
import { compact } from '../util/values.ts'
import { BUILTIN_COMMANDS } from './builtin-words.ts'
import type { CommandManifest } from './command-line.ts'
import { isSameName, isUnderPath, matchesCommand } from './command-line.ts'

/** Where on the command line the cursor is. */
export type CursorPosition = {
  readonly path: readonly string[]
  /** The tool whose arguments are being written. */
  readonly tool?: CommandManifest
  /** A built-in command, and how many words of it are written. */
  readonly builtin?: { readonly words: readonly string[]; readonly given: number }
  /** What would make the words so far a built-in command, where they may be arguments as well. */
  readonly subWords?: readonly string[]
  /** The flags that are allowed here. */
  readonly flags: readonly CompletableFlag[]
  readonly used: ReadonlySet<string>
  readonly positionals: readonly string[]
  /** After `--`, where nothing is a flag. */
  readonly literal: boolean
  /** A flag that waits for its value, and how many values it has. */
  readonly pending?: { readonly flag: CompletableFlag; readonly given: number }
  /** A word before the cursor means nothing here. */
  readonly lost: boolean
}

/** Reads the words before the one that is being completed. */
export function parsePosition(manifest: ToolsetManifest, words: readonly string[]): CursorPosition {
  return words.reduce(
    (position, word) => readWord(manifest, position, word),
    createStartPosition(manifest),
  )
}

/** The flag that a word names, also switched off (`--no-x`) or by a key (`--x.key`). */
export function findFlag(
  flags: readonly CompletableFlag[],
  name: string,
): CompletableFlag | undefined {
  const exact =
    flags.find((flag) => flag.long === name) ??
    flags.find((flag) => flag.boolean && `no-${flag.long}` === name)
  if (exact) return exact
  const outer = flags.find((flag) => name.startsWith(`${flag.long}.`))
  return outer && findFlag(outer.inner(), name)
}

function createStartPosition(manifest: ToolsetManifest): CursorPosition {
  // A program of one tool needs no tool name.
  const [tool] = manifest.tools.length === 1 ? manifest.tools : []
  return compact({
    path: [],
    tool,
    flags: listFlagsAt(manifest, tool, true),
    used: new Set<string>(),
    positionals: [],
    literal: false,
    lost: false,
  })
}

function readWord(
  manifest: ToolsetManifest,
  position: CursorPosition,
  word: string,
): CursorPosition {
  const { pending, ...settled } = position
  if (pending) {
    const given = pending.given + 1
    return given < pending.flag.values.length
      ? { ...settled, pending: { flag: pending.flag, given } }
      : settled
  }
  if (position.literal || word === '-' || !word.startsWith('-'))
    return readArgument(manifest, position, word)
  if (word === '--') return { ...position, literal: true }
  return word.startsWith('--') ? readLongFlag(position, word) : readShortFlags(position, word)
}

function readArgument(
  manifest: ToolsetManifest,
  position: CursorPosition,
  word: string,
): CursorPosition {
  const { builtin, tool, path, positionals, literal, subWords } = position
  if (subWords?.includes(word)) return { ...position, builtin: { words: [], given: 1 }, flags: [] }
  if (builtin) return { ...position, builtin: { ...builtin, given: builtin.given + 1 } }
  const longer = [...path, word]
  if (!literal && positionals.length === 0) {
    // `pr_list` names the tool of the path `pr list`.
    const whole =
      path.length === 0
        ? manifest.tools.find((command) => isSameName(command.name, word))
        : undefined
    if (whole) return enterCommand(manifest, position, whole.path)
    if (manifest.tools.some((command) => isUnderPath(command, longer)))
      return enterCommand(manifest, position, longer)
    const own =
      path.length === 0 ? BUILTIN_COMMANDS.find(({ name }) => isSameName(name, word)) : undefined
    if (own && !tool?.positional.length)
      return { ...position, builtin: { words: own.words, given: 0 }, flags: [] }
    if (own) return { ...position, positionals: [word], subWords: own.words }
  }
  return tool ? { ...position, positionals: [...positionals, word] } : { ...position, lost: true }
}

function enterCommand(
  manifest: ToolsetManifest,
  { tool: _, ...position }: CursorPosition,
  path: readonly string[],
): CursorPosition {
  const tool = manifest.tools.find((command) => matchesCommand(command, path))
  return { ...position, path, ...compact({ tool }), flags: listFlagsAt(manifest, tool, false) }
}

function listFlagsAt(
  manifest: ToolsetManifest,
  tool: CommandManifest | undefined,
  atProgram: boolean,
): CompletableFlag[] {
  const own = tool ? listToolFlags(tool) : []
  if (!atProgram) return own
  return [
    ...own,
    ...listProgramFlags(manifest).filter((flag) => !own.some((other) => other.long === flag.long)),
  ]
}

function readLongFlag(position: CursorPosition, word: string): CursorPosition {
  const [name = '', value] = splitAssignment(word.slice(2))
  const flag = findFlag(position.flags, name)
  if (!flag) return position
  const used = new Set([...position.used, flag.long])
  return value === undefined && flag.values.length > 0
    ? { ...position, used, pending: { flag, given: 0 } }
    : { ...position, used }
}

function readShortFlags(position: CursorPosition, word: string): CursorPosition {
  const used = new Set(position.used)
  for (const [index, letter] of [...word.slice(1)].entries()) {
    const flag = position.flags.find((other) => other.short === letter)
    if (!flag) break
    used.add(flag.long)
    // What follows in the same word is the value: `-ojson`.
    if (flag.values.length > 0)
      return index === word.length - 2
        ? { ...position, used, pending: { flag, given: 0 } }
        : { ...position, used }
  }
  return { ...position, used }
}

function splitAssignment(text: string): readonly [string, string | undefined] {
  const at = text.indexOf('=')
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

/** The candidates for a value. */
export type CompletionValues = {
  readonly choices: readonly string[]
  readonly directive: Completion['directive']
}

/** A flag as completion sees it: of a tool or a global one. */
export type CompletableFlag = {
  readonly long: string
  readonly short?: string
  readonly description?: string
  /** One source for each word that follows the flag. */
  readonly values: readonly CompletionValues[]
  readonly repeatable: boolean
  readonly boolean: boolean
  readonly hidden: boolean
  /** Of an object, the flags of its keys: `--config.key`. */
  readonly inner: () => readonly CompletableFlag[]
}

/** The flags that are allowed after the name of a tool. */
function listToolFlags(tool: CommandManifest): CompletableFlag[] {
  const specs = toFlagSpecs(tool)
  const injected = [...GLOBAL_FLAGS, ...CONTROL_FLAGS].filter(
    (flag) => !specs.some((spec) => spec.long === flag.long),
  )
  return [
    ...specs.filter((spec) => !isReservedSwitch(spec)).map(fromFlagSpec),
    ...specs.filter(isReservedSwitch).map(fromSwitch),
    ...injected.map((flag) => fromGlobalFlag(flag, tool.session)),
  ]
}

/** The flags that are allowed before the name of a tool. */
function listProgramFlags(manifest: ToolsetManifest): CompletableFlag[] {
  const sources: { readonly [long: string]: readonly string[] } = {
    resource: manifest.resources.map(({ uri }) => uri).filter((uri) => !uri.includes('{')),
    prompt: manifest.prompts.map(({ name }) => name),
  }
  const own = PROGRAM_FLAGS.map((flag) => ({
    ...flag,
    ...compact({ choices: sources[flag.long] }),
  }))
  const others = GLOBAL_FLAGS.filter((flag) => !own.some(({ long }) => long === flag.long))
  return [
    ...own.map((flag) => fromGlobalFlag(flag, true)),
    ...others.map((flag) => fromGlobalFlag({ ...flag, hidden: true }, true)),
  ]
}

/** The candidates for the value of a field. */
export function getCompletionValues(
  spec: Pick<FlagSpec, 'field' | 'kind' | 'schema' | 'choices'>,
): CompletionValues {
  const path = getPathKind(spec.kind === 'list' ? getItemSchema(spec.schema) : spec.schema)
  const isDirectory = spec.field === 'working_dir' || spec.field === 'workingDir'
  return {
    choices: spec.kind === 'boolean' ? ['true', 'false'] : (spec.choices ?? []),
    directive: isDirectory ? 'directories' : (path ?? 'none'),
  }
}

function fromFlagSpec(spec: FlagSpec): CompletableFlag {
  return {
    ...pickNames(spec),
    values: spec.kind === 'boolean' ? [] : [getCompletionValues(spec)],
    repeatable: spec.kind === 'list' || spec.kind === 'object',
    boolean: spec.kind === 'boolean',
    hidden: spec.hidden,
    inner: () => (spec.kind === 'object' ? listInnerFlags(spec) : []),
  }
}

// A reserved field is written as the injected flag that feeds it.
function isReservedSwitch(spec: FlagSpec): boolean {
  return spec.fedBy === 'dry-run' || spec.fedBy === 'verbose'
}

function fromSwitch(spec: FlagSpec): CompletableFlag {
  const short = GLOBAL_FLAGS.find((flag) => flag.long === spec.fedBy)?.short
  return {
    ...pickNames({ ...spec, ...compact({ short }) }),
    values: [],
    repeatable: spec.fedBy === 'verbose',
    boolean: false,
    hidden: spec.hidden,
    inner: () => [],
  }
}

function fromGlobalFlag(flag: GlobalFlag, session: boolean): CompletableFlag {
  const takesValue = flag.kind === 'value' || flag.kind === 'list'
  const words = takesValue ? (flag.valueName ?? 'text').split(' ') : []
  return {
    ...pickNames(flag),
    values: words.map((_, index) => ({
      choices: index === 0 ? (flag.choices ?? []) : [],
      directive: 'none',
    })),
    repeatable: flag.kind === 'list' || flag.kind === 'count',
    boolean: false,
    hidden: flag.hidden === true || (flag.isForSessions === true && !session),
    inner: () => [],
  }
}

function pickNames({
  long,
  short,
  description,
}: Pick<FlagSpec, 'long' | 'short' | 'description'>): Pick<
  CompletableFlag,
  'long' | 'short' | 'description'
> {
  return compact({ long, short, description })
}

function listInnerFlags(spec: FlagSpec): CompletableFlag[] {
  const { properties, required } = readInputFields(spec.schema)
  return [...properties].map(([key, schema]) =>
    fromFlagSpec({
      field: key,
      long: `${spec.long}.${key}`,
      schema,
      required: required.has(key),
      positional: false,
      hidden: spec.hidden,
      ...readFlagValue(schema),
    }),
  )
}

/** One thing that the word under the cursor may become. */
export type CompletionCandidate = { readonly value: string; readonly description?: string }

/**
 * What a shell gets: the candidates, and whether it should add names of files or directories.
 */
export type Completion = {
  readonly candidates: readonly CompletionCandidate[]
  readonly directive: 'files' | 'directories' | 'none'
}

const MAX_DESCRIPTION_CHARS = 80

/**
 * What the completion scripts read: a line `value<TAB>description` for each candidate, and
 * `:directive` as the last line.
 */
export function formatCompletion({ candidates, directive }: Completion): string {
  const lines = candidates
    .filter(({ value }) => isPrintable(value))
    .map(({ value, description }) => {
      const text = shortenDescription(description ?? '')
      return text === '' ? value : `${value}\t${text}`
    })
  return [...lines, `:${directive}`, ''].join('\n')
}

// Shells show a description beside the candidate, on the same line.
function shortenDescription(description: string): string {
  const line = description.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  const characters = [...line]
  return characters.length > MAX_DESCRIPTION_CHARS
    ? `${characters.slice(0, MAX_DESCRIPTION_CHARS - 1).join('')}…`
    : line
}

// A control character would break the protocol, and is not safe on a terminal.
function isPrintable(value: string): boolean {
  return value !== '' && !/[\p{Cc}\p{Surrogate}]/u.test(value)
}
