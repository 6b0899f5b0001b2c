/**
 * Shell completion: answers `__complete`, which the completion scripts call.
 */

import { toLookupKey } from '../core/call.ts'
import type { Servable } from '../core/provider.ts'
import { detectWholeInput } from '../define/argv.ts'
import { toFlagSpecs } from '../define/flag-specs.ts'
import type { Io } from '../protocol/io.ts'
import type { ToolsetManifest } from '../protocol/manifest.ts'
import { pluralize } from '../util/text.ts'
import { compact } from '../util/values.ts'
import { BUILTIN_COMMANDS } from './builtin-words.ts'
import { createBuiltinToolset, loadBuiltins } from './builtins.ts'
import { isUnderPath, matchesCommand } from './command-line.ts'
import { parseCommand } from './command.ts'
import type {
  CompletableFlag,
  Completion,
  CompletionCandidate,
  CompletionValues,
  CursorPosition,
} from './completion-position.ts'
import {
  findFlag,
  formatCompletion,
  getCompletionValues,
  parsePosition,
} from './completion-position.ts'
import { printText } from './documents.ts'
import type { CommandHost } from './types.ts'

/**
 * Answers a completion script: `given` are the words after the program name, the one under the
 * cursor last.
 */
export async function completeCommandLine(
  set: Servable,
  given: readonly string[],
  io: Io,
  host: CommandHost,
): Promise<number> {
  const words = given[0] === '--' ? given.slice(1) : given
  return printText(
    io,
    formatCompletion(
      (await completeBuiltin(set, words, host)) ?? completeWords(await set.manifest(), words),
    ),
  )
}

// Undefined where the words before the cursor name no built-in command.
async function completeBuiltin(
  set: Servable,
  words: readonly string[],
  host: CommandHost,
): Promise<Completion | undefined> {
  const command = parseCommand(set, words.slice(0, -1))
  const builtins = command.kind === 'builtin' ? await loadBuiltins(command.name, set, host) : []
  if (command.kind !== 'builtin' || builtins.length === 0) return undefined
  return completeWords(await createBuiltinToolset(builtins, set, host).manifest(), [
    command.name,
    ...command.rest,
    words.at(-1) ?? '',
  ])
}

const NO_COMPLETION: Completion = { candidates: [], directive: 'none' }
const NO_VALUES: CompletionValues = { choices: [], directive: 'none' }

/**
 * What the last word may become. `words` are those after the program name, up to and including the
 * one under the cursor, which may be empty.
 */
export function completeWords(manifest: ToolsetManifest, words: readonly string[]): Completion {
  const current = words.at(-1) ?? ''
  const position = parsePosition(manifest, words.slice(0, -1))
  if (position.lost) return NO_COMPLETION
  if (position.pending)
    return completeValue(position.pending.flag.values[position.pending.given] ?? NO_VALUES, current)
  if (position.builtin)
    return position.builtin.given === 0
      ? completeValue({ choices: position.builtin.words, directive: 'none' }, current)
      : NO_COMPLETION
  if (position.literal || !current.startsWith('-'))
    return completeArgument(manifest, position, current)
  return current.startsWith('--') && current.includes('=')
    ? completeAssignment(position, current)
    : completeFlag(position, current)
}

function completeValue({ choices, directive }: CompletionValues, current: string): Completion {
  return {
    candidates: choices.filter((choice) => choice.startsWith(current)).map((value) => ({ value })),
    directive,
  }
}

function completeAssignment({ flags }: CursorPosition, current: string): Completion {
  const at = current.indexOf('=')
  const flag = findFlag(flags, current.slice(2, at))
  if (!flag) return NO_COMPLETION
  const source = flag.boolean
    ? { choices: ['true', 'false'], directive: 'none' as const }
    : flag.values[0]
  const { candidates, directive } = completeValue(source ?? NO_VALUES, current.slice(at + 1))
  return {
    candidates: candidates.map(({ value }) => ({ value: current.slice(0, at + 1) + value })),
    directive,
  }
}

function completeFlag(position: CursorPosition, current: string): Completion {
  const { flags, used } = position
  const given = new Set(
    position.tool
      ? toFlagSpecs(position.tool)
          .filter((spec) => spec.positional && spec.kind !== 'list')
          .slice(0, position.positionals.length)
          .map((spec) => spec.long)
      : [],
  )
  const open = flags.filter(
    (flag) => !flag.hidden && (flag.repeatable || !used.has(flag.long)) && !given.has(flag.long),
  )
  const inner = open
    .filter((flag) => current.startsWith(`--${flag.long}.`))
    .flatMap((flag) => flag.inner())
    .filter((flag) => !used.has(flag.long))
  const all = [...open, ...inner].flatMap((flag) => listSpellings(flag, current))
  return { candidates: all.filter(({ value }) => value.startsWith(current)), directive: 'none' }
}

function listSpellings(flag: CompletableFlag, current: string): CompletionCandidate[] {
  const { long, short, boolean, description } = flag
  const values = [`--${long}`]
  if (boolean && current.startsWith('--no')) values.push(`--no-${long}`)
  // Complete already, but as a candidate it lets the shell go on to the next word.
  if (short !== undefined && current === `-${short}`) values.push(current)
  return values.map((value) => compact({ value, description }))
}

function completeArgument(
  manifest: ToolsetManifest,
  position: CursorPosition,
  current: string,
): Completion {
  const commands = completeCommand(manifest, position, current)
  const source = getNextArgument(position)
  const values = source ? completeValue(source, current) : NO_COMPLETION
  const candidates = [...values.candidates, ...commands]
  const nothingElse =
    candidates.length === 0 && !source && current === '' && position.tool && !position.literal
  return nothingElse ? completeFlag(position, '--') : { candidates, directive: values.directive }
}

function completeCommand(
  manifest: ToolsetManifest,
  position: CursorPosition,
  current: string,
): readonly CompletionCandidate[] {
  const { literal, positionals, subWords = [] } = position
  if (literal) return []
  if (positionals.length === 0) return listCommandCandidates(manifest, position, current)
  const choices = positionals.length === 1 ? subWords : []
  return completeValue({ choices, directive: 'none' }, current).candidates
}

function listCommandCandidates(
  manifest: ToolsetManifest,
  { path }: CursorPosition,
  current: string,
): CompletionCandidate[] {
  const found = new Map<string, CompletionCandidate>()
  // The only tool of a program needs no name, and its arguments would drown in the names of
  // commands.
  for (const command of manifest.tools.length === 1 && path.length === 0 ? [] : manifest.tools) {
    const word = command.path[path.length]
    if (
      word === undefined ||
      !isUnderPath(command, path) ||
      !toLookupKey(word).startsWith(toLookupKey(current))
    )
      continue
    const own = manifest.tools.find((other) => matchesCommand(other, [...path, word]))
    const members = manifest.tools.filter((other) => isUnderPath(other, [...path, word]))
    const description = own?.summary ?? pluralize(members.length, 'command')
    found.set(word, { value: word, description })
  }
  if (path.length > 0) return [...found.values()]
  const builtins = BUILTIN_COMMANDS.filter(
    ({ name }) =>
      name.startsWith(current) && !manifest.tools.some((command) => isUnderPath(command, [name])),
  )
  return [
    ...found.values(),
    ...builtins.map(({ name, summary }) => ({ value: name, description: summary })),
  ]
}

function getNextArgument({
  tool,
  positionals,
  used,
}: CursorPosition): CompletionValues | undefined {
  // A JSON object, stdin or a file is the whole input, and nothing follows it by position.
  const [first] = positionals
  if (
    !tool ||
    (first !== undefined &&
      detectWholeInput({ text: first, literal: false }, tool.positional.length > 0))
  )
    return undefined
  const specs = toFlagSpecs(tool).filter(
    (spec) => spec.positional && !(spec.kind !== 'list' && used.has(spec.long)),
  )
  const next = specs[positionals.length] ?? specs.findLast((spec) => spec.kind === 'list')
  return next && getCompletionValues(next)
}
