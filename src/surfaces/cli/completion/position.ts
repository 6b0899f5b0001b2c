import type { ToolsetManifest } from '../../../contract/manifest.ts'
import { BUILTIN_COMMANDS } from '../builtin-commands.ts'
import { isCommand, isInside, sameWord } from '../command-path.ts'
import type { ToolCommand } from '../command-path.ts'
import { programFlags, toolFlags } from './completable-flag.ts'
import type { CompletableFlag } from './completable-flag.ts'

/** Where on the command line the cursor stands. */
export type Position = {
  readonly path: readonly string[]
  /** The tool whose arguments are being written. */
  readonly tool?: ToolCommand
  /** A built-in command, and how many words of it are written. */
  readonly builtin?: { readonly words: readonly string[]; readonly given: number }
  /** What would make the words so far a built-in command, where they may be arguments as well. */
  readonly subWords?: readonly string[]
  /** The flags that may stand here. */
  readonly flags: readonly CompletableFlag[]
  readonly used: ReadonlySet<string>
  readonly positionals: readonly string[]
  /** After `--`, where nothing is a flag. */
  readonly literal: boolean
  /** A flag that waits for its value, and how many values it has. */
  readonly pending?: { readonly flag: CompletableFlag; readonly given: number }
  /** A word that means nothing here stands before. */
  readonly lost: boolean
}

/** Reads the words before the one that is being completed. */
export function readPosition(manifest: ToolsetManifest, words: readonly string[]): Position {
  return words.reduce(
    (position, word) => readWord(manifest, position, word),
    startPosition(manifest),
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

function startPosition(manifest: ToolsetManifest): Position {
  // A program of one tool needs no tool name.
  const [tool] = manifest.tools.length === 1 ? manifest.tools : []
  return {
    path: [],
    ...(tool && { tool }),
    flags: flagsAt(manifest, tool, true),
    used: new Set(),
    positionals: [],
    literal: false,
    lost: false,
  }
}

function readWord(manifest: ToolsetManifest, position: Position, word: string): Position {
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
  return word.startsWith('--') ? readLong(position, word) : readShorts(position, word)
}

function readArgument(manifest: ToolsetManifest, position: Position, word: string): Position {
  const { builtin, tool, path, positionals, literal, subWords } = position
  if (subWords?.includes(word)) return { ...position, builtin: { words: [], given: 1 }, flags: [] }
  if (builtin) return { ...position, builtin: { ...builtin, given: builtin.given + 1 } }
  const longer = [...path, word]
  if (!literal && positionals.length === 0) {
    // `pr_list` names the tool of the path `pr list`.
    const whole =
      path.length === 0 ? manifest.tools.find((command) => sameWord(command.name, word)) : undefined
    if (whole) return enter(manifest, position, whole.path)
    if (manifest.tools.some((command) => isInside(command, longer)))
      return enter(manifest, position, longer)
    const own =
      path.length === 0 ? BUILTIN_COMMANDS.find(({ name }) => sameWord(name, word)) : undefined
    if (own && !tool?.positional.length)
      return { ...position, builtin: { words: own.words, given: 0 }, flags: [] }
    if (own) return { ...position, positionals: [word], subWords: own.words }
  }
  return tool ? { ...position, positionals: [...positionals, word] } : { ...position, lost: true }
}

function enter(
  manifest: ToolsetManifest,
  { tool: _, ...position }: Position,
  path: readonly string[],
): Position {
  const tool = manifest.tools.find((command) => isCommand(command, path))
  return { ...position, path, ...(tool && { tool }), flags: flagsAt(manifest, tool, false) }
}

function flagsAt(
  manifest: ToolsetManifest,
  tool: ToolCommand | undefined,
  atProgram: boolean,
): CompletableFlag[] {
  const own = tool ? toolFlags(tool) : []
  if (!atProgram) return own
  return [
    ...own,
    ...programFlags(manifest).filter((flag) => !own.some((other) => other.long === flag.long)),
  ]
}

function readLong(position: Position, word: string): Position {
  const [name = '', value] = splitAssignment(word.slice(2))
  const flag = findFlag(position.flags, name)
  if (!flag) return position
  const used = new Set([...position.used, flag.long])
  return value === undefined && flag.values.length > 0
    ? { ...position, used, pending: { flag, given: 0 } }
    : { ...position, used }
}

function readShorts(position: Position, word: string): Position {
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
