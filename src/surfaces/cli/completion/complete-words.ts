import type { ToolsetManifest } from '../../../contract/manifest.ts'
import { flagSpecs } from '../../../define/flags/specs.ts'
import { lookupKey } from '../../../define/names.ts'
import { wholeInput } from '../../../define/argv/whole-input.ts'
import { BUILTIN_COMMANDS } from '../builtin-commands.ts'
import { isCommand, isInside } from '../command-path.ts'
import { valueSource } from './completable-flag.ts'
import type { ValueSource } from './completable-flag.ts'
import type { Candidate, Completion } from './completion.ts'
import { findFlag, readPosition } from './position.ts'
import type { Position } from './position.ts'

const NOTHING: Completion = { candidates: [], directive: 'none' }
const NO_VALUES: ValueSource = { choices: [], directive: 'none' }

/** What the last word may become. `words` are those after the program name, up to and including the one under the cursor, which may be empty. */
export function completeWords(manifest: ToolsetManifest, words: readonly string[]): Completion {
  const current = words.at(-1) ?? ''
  const position = readPosition(manifest, words.slice(0, -1))
  if (position.lost) return NOTHING
  if (position.pending)
    return completeValue(position.pending.flag.values[position.pending.given] ?? NO_VALUES, current)
  if (position.builtin)
    return position.builtin.given === 0
      ? completeValue({ choices: position.builtin.words, directive: 'none' }, current)
      : NOTHING
  if (position.literal || !current.startsWith('-'))
    return completeArgument(manifest, position, current)
  return current.startsWith('--') && current.includes('=')
    ? completeAssignment(position, current)
    : completeFlag(position, current)
}

function completeValue({ choices, directive }: ValueSource, current: string): Completion {
  return {
    candidates: choices.filter((choice) => choice.startsWith(current)).map((value) => ({ value })),
    directive,
  }
}

function completeAssignment({ flags }: Position, current: string): Completion {
  const at = current.indexOf('=')
  const flag = findFlag(flags, current.slice(2, at))
  if (!flag) return NOTHING
  const source = flag.boolean
    ? { choices: ['true', 'false'], directive: 'none' as const }
    : flag.values[0]
  const { candidates, directive } = completeValue(source ?? NO_VALUES, current.slice(at + 1))
  return {
    candidates: candidates.map(({ value }) => ({ value: current.slice(0, at + 1) + value })),
    directive,
  }
}

function completeFlag(position: Position, current: string): Completion {
  const { flags, used } = position
  const given = new Set(
    position.tool
      ? flagSpecs(position.tool)
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
  const all = [...open, ...inner].flatMap(({ long, short, boolean, description }): Candidate[] => {
    const described = description === undefined ? {} : { description }
    return [
      { value: `--${long}`, ...described },
      ...(boolean && current.startsWith('--no') ? [{ value: `--no-${long}`, ...described }] : []),
      // Known already, but saying it lets the shell go on to the next word.
      ...(short !== undefined && current === `-${short}` ? [{ value: current, ...described }] : []),
    ]
  })
  return { candidates: all.filter(({ value }) => value.startsWith(current)), directive: 'none' }
}

function completeArgument(
  manifest: ToolsetManifest,
  position: Position,
  current: string,
): Completion {
  const commands = position.literal
    ? []
    : position.positionals.length > 0
      ? completeValue({ choices: subWords(position), directive: 'none' }, current).candidates
      : commandCandidates(manifest, position, current)
  const source = nextArgument(position)
  const values = source ? completeValue(source, current) : NOTHING
  const candidates = [...values.candidates, ...commands]
  const nothingElse =
    candidates.length === 0 && !source && current === '' && position.tool && !position.literal
  return nothingElse ? completeFlag(position, '--') : { candidates, directive: values.directive }
}

function subWords({ subWords: words = [], positionals }: Position): readonly string[] {
  return positionals.length === 1 ? words : []
}

function commandCandidates(
  manifest: ToolsetManifest,
  { path }: Position,
  current: string,
): Candidate[] {
  const found = new Map<string, Candidate>()
  // The only tool of a program needs no name, and its arguments would drown in the names of commands.
  for (const command of manifest.tools.length === 1 && path.length === 0 ? [] : manifest.tools) {
    const word = command.path[path.length]
    if (
      word === undefined ||
      !isInside(command, path) ||
      !lookupKey(word).startsWith(lookupKey(current))
    )
      continue
    const own = manifest.tools.find((other) => isCommand(other, [...path, word]))
    const members = manifest.tools.filter((other) => isInside(other, [...path, word])).length
    found.set(word, {
      value: word,
      description: own ? own.summary : members === 1 ? '1 command' : `${members} commands`,
    })
  }
  if (path.length > 0) return [...found.values()]
  const builtins = BUILTIN_COMMANDS.filter(
    ({ name }) =>
      name.startsWith(current) && !manifest.tools.some((command) => isInside(command, [name])),
  )
  return [
    ...found.values(),
    ...builtins.map(({ name, summary }) => ({ value: name, description: summary })),
  ]
}

function nextArgument({ tool, positionals, used }: Position): ValueSource | undefined {
  // A JSON object, stdin or a file is the whole input, and nothing follows it by position.
  const [first] = positionals
  if (
    !tool ||
    (first !== undefined && wholeInput({ text: first, literal: false }, tool.positional.length > 0))
  )
    return undefined
  const specs = flagSpecs(tool).filter(
    (spec) => spec.positional && !(spec.kind !== 'list' && used.has(spec.long)),
  )
  const next = specs[positionals.length] ?? specs.findLast((spec) => spec.kind === 'list')
  return next && valueSource(next)
}
