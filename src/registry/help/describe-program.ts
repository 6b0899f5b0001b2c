import type { UnderstoodHelp } from './read-help.ts'
import { understandHelp } from './read-help.ts'

/** A program, or a command of one, with what its help says. */
export type ProgramNode = {
  /** The words behind the program: `['remote', 'add']`; empty for the program itself. */
  readonly path: readonly string[]
  readonly help: UnderstoodHelp
  /** What the help above says about it. */
  readonly summary: string
  readonly children: readonly ProgramNode[]
}

export type DescribeOptions = {
  /** How deep commands are followed; 0 asks the program only. */
  readonly depth: number
  /** Only these commands: `log`, `remote add`. */
  readonly only?: readonly string[]
  /** Commands that are asked at most. */
  readonly most: number
}

/** Runs the program with these arguments and gives what it printed, on stdout or else on stderr. */
export type RunForHelp = (args: readonly string[]) => Promise<string>

type Asking = { readonly run: RunForHelp; left: number; readonly seen: Set<string> }

const AT_ONCE = 4

/** Asks a program for its help, and its commands for theirs. Undefined where it tells nothing. */
export async function describeProgram(
  run: RunForHelp,
  { depth, only, most }: DescribeOptions,
): Promise<ProgramNode | undefined> {
  const asking: Asking = { run, left: most, seen: new Set() }
  const help = await askHelp(asking, [])
  if (!help) return undefined
  const wanted = only
    ?.map((path) => ({ path: path.split(/[\s/]+/).filter((word) => word !== ''), summary: '' }))
    .filter(({ path }) => path.length > 0 && path.every((word) => !word.startsWith('-')))
  const children = wanted
    ? await askAll(asking, wanted, 0)
    : depth > 0
      ? await askAll(asking, commandsOf(help, []), depth - 1)
      : []
  return { path: [], help, summary: '', children }
}

/** The questions in their order, until one brings help. */
function questions(path: readonly string[]): (readonly string[])[] {
  const asked = [
    [...path, '--help'],
    [...path, '-h'],
    ['help', ...path],
  ]
  return path.length === 0 ? [...asked, []] : asked
}

async function askHelp(
  asking: Asking,
  path: readonly string[],
): Promise<UnderstoodHelp | undefined> {
  let best: UnderstoodHelp | undefined
  for (const args of questions(path)) {
    const text = await asking.run(args)
    if (text.trim() === '') continue
    const help = understandHelp(text)
    const { options, commands, usage } = help.document
    // A command that is not known often brings the help of the program again.
    const fresh = path.length === 0 || !asking.seen.has(text)
    asking.seen.add(text)
    if (!fresh) continue
    if (options.length + commands.length > 0 && !isManual(text)) return help
    if (options.length + commands.length > (best?.document.options.length ?? 0) || usage !== '')
      best ??= help
  }
  return best
}

/** A manual page is long and mostly prose; what the program prints itself is preferred. */
function isManual(text: string): boolean {
  return /^\s*[\w.+-]+\(\d\w?\)\s/.test(text.slice(0, 200).replace(/.\u0008/g, ''))
}

type Wanted = { readonly path: readonly string[]; readonly summary: string }

async function askAll(
  asking: Asking,
  wanted: readonly Wanted[],
  depth: number,
): Promise<ProgramNode[]> {
  const nodes: ProgramNode[] = []
  for (let index = 0; index < wanted.length; index += AT_ONCE) {
    const found = await Promise.all(
      wanted.slice(index, index + AT_ONCE).map((one) => askOne(asking, one, depth)),
    )
    nodes.push(...found.filter((node) => node !== undefined))
  }
  return nodes
}

async function askOne(
  asking: Asking,
  { path, summary }: Wanted,
  depth: number,
): Promise<ProgramNode | undefined> {
  if (asking.left <= 0) return undefined
  asking.left--
  const help = await askHelp(asking, path)
  if (!help) return undefined
  return {
    path,
    help,
    summary,
    children: depth > 0 ? await askAll(asking, commandsOf(help, path), depth - 1) : [],
  }
}

function commandsOf({ document }: UnderstoodHelp, path: readonly string[]): Wanted[] {
  return document.commands
    .filter(
      ({ name }) =>
        /^[\p{L}\d][\p{L}\d_:.+-]*$/u.test(name) && !/^(?:help|version|completions?)$/.test(name),
    )
    .map(({ name, description }) => ({ path: [...path, name], summary: description }))
}
