import type { UsageItem } from './usage.ts'

/** What the usage lines of a program say about itself and about its commands. */
export type UsageLines = {
  /** The lines that are about the program itself. */
  readonly own: readonly (readonly UsageItem[])[]
  /** Commands whose usage is written out: `prog ship new <name>`. */
  readonly commands: readonly string[]
}

const NAME = /^[\p{L}\d][\p{L}\d_:.@+/-]*$/u

/** Parts usage lines into those of the program and those of its commands. Only where placeholders are marked can a plain word be a command. */
export function partUsages(
  usages: readonly (readonly UsageItem[])[],
  isListed: (flag: string) => boolean,
): UsageLines {
  const lines = usages.map((items) => withoutLauncher(items, isListed))
  if (lines.length < 2 || !isMarked(lines)) return { own: lines, commands: [] }
  const leading = lines.map((items) => leadingWords(items))
  const shared = sharedLength(leading)
  if (shared === 0 || (shared === 1 && areTwins(lines, leading)))
    return { own: lines, commands: [] }
  const commands = leading
    .map((words) => words[shared])
    .map((word) => (word !== undefined && /^[a-z][a-z0-9_-]*$/.test(word) ? word : undefined))
  const own = lines.flatMap((items, index) => (commands[index] === undefined ? [items] : []))
  // What stands before the command belongs to the program.
  const before = lines.flatMap((items, index) =>
    commands[index] === undefined
      ? []
      : items
          .slice(
            0,
            items.findIndex(({ names }) => names[0] === commands[index]),
          )
          .filter(({ kind }) => kind === 'flag'),
  )
  return {
    own: before.length > 0 ? [...own, before] : own,
    commands: [...new Set(commands.filter((word) => word !== undefined))],
  }
}

/** `git log [<options>] …` and `git show [<options>] …` in one help are two names of one thing, not its commands. */
function areTwins(
  lines: readonly (readonly UsageItem[])[],
  leading: readonly (readonly string[])[],
): boolean {
  return (
    lines.length === 2 &&
    leading.every((words) => words.length === 2) &&
    lines.every((items) =>
      items.some(({ kind, names }) => kind === 'argument' && /^options?$/i.test(names[0]!)),
    )
  )
}

/** Whether placeholders are told from words that are typed: `<x>`, `X`. */
export function isMarked(usages: readonly (readonly UsageItem[])[]): boolean {
  return usages.some((items) => items.some((item) => item.kind === 'argument' && item.marked))
}

/** `python -m json.tool [-h]`: the flag belongs to the program that starts this one. */
function withoutLauncher(
  items: readonly UsageItem[],
  isListed: (flag: string) => boolean,
): readonly UsageItem[] {
  const [program, flag, started] = items
  const launched =
    program?.kind === 'word' &&
    flag?.kind === 'flag' &&
    flag.required &&
    !flag.value &&
    started?.kind === 'word' &&
    items.length > 3 &&
    !isListed(flag.names[0]!)
  return launched
    ? [
        { ...program, names: [`${program.names[0]!} ${flag.names[0]!} ${started.names[0]!}`] },
        ...items.slice(3),
      ]
    : items
}

/** The words that are typed as they are, before the first argument. */
function leadingWords(items: readonly UsageItem[]): string[] {
  const words: string[] = []
  for (const item of items) {
    if (item.kind === 'word' && NAME.test(item.names[0]!)) words.push(item.names[0]!)
    else if (item.kind === 'word' || (item.kind === 'argument' && item.required)) break
  }
  return words
}

function sharedLength(lists: readonly (readonly string[])[]): number {
  const shortest = lists.reduce(
    (least, list) => Math.min(least, list.length),
    Number.MAX_SAFE_INTEGER,
  )
  let length = 0
  while (length < shortest && lists.every((list) => list[length] === lists[0]![length])) length++
  return length
}
