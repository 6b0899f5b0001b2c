/**
 * Runs a program for its help text, and its commands for theirs, in a sandbox.
 */

import { PROBE_HOME } from '../../process/child.ts'
import type { HostEnv } from '../../process/environment.ts'
import { buildProbeEnv } from '../../process/environment.ts'
import { runChild } from '../../process/run.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { findSandbox } from '../../sandbox/probe-sandbox.ts'
import { resolveRealPath, withTemporaryFolder } from '../../util/files.ts'
import { MEBIBYTE } from '../../util/units.ts'
import { compact } from '../../util/values.ts'
import type { ParsedHelp } from './read-help.ts'
import { parseHelp } from './read-help.ts'

/** A program, or a command of one, with what its help says. */
export type ProgramNode = {
  /** The words behind the program: `['remote', 'add']`; empty for the program itself. */
  readonly path: readonly string[]
  readonly help: ParsedHelp
  /** What the help above says about it. */
  readonly summary: string
  readonly children: readonly ProgramNode[]
}

type DescribeOptions = {
  /** How deep commands are followed; 0 asks the program only. */
  readonly depth: number
  /** Only these commands: `log`, `remote add`. */
  readonly only?: readonly string[]
  /** Commands that are asked at most. */
  readonly most: number
}

/** Runs the program with these arguments and gives what it printed, on stdout or else on stderr. */
type RunForHelp = (args: readonly string[]) => Promise<string>

type HelpRequests = { readonly run: RunForHelp; left: number; readonly seen: Set<string> }

const HELP_CONCURRENCY = 4

/** Asks a program for its help, and its commands for theirs. Undefined where it tells nothing. */
export async function describeProgram(
  run: RunForHelp,
  { depth, only, most }: DescribeOptions,
): Promise<ProgramNode | undefined> {
  const asking: HelpRequests = { run, left: most, seen: new Set() }
  const help = await requestHelp(asking, [])
  if (!help) return undefined
  const wanted = only
    ?.map((path) => ({ path: path.split(/[\s/]+/).filter((word) => word !== ''), summary: '' }))
    .filter(({ path }) => path.length > 0 && path.every((word) => !word.startsWith('-')))
  const children = wanted
    ? await describeCommands(asking, wanted, 0)
    : await describeSubcommands(asking, help, [], depth)
  return { path: [], help, summary: '', children }
}

/** The questions in their order, until one brings help. */
function listHelpArguments(path: readonly string[]): (readonly string[])[] {
  const asked = [
    [...path, '--help'],
    [...path, '-h'],
    ['help', ...path],
  ]
  return path.length === 0 ? [...asked, []] : asked
}

async function requestHelp(
  asking: HelpRequests,
  path: readonly string[],
): Promise<ParsedHelp | undefined> {
  let best: ParsedHelp | undefined
  for (const args of listHelpArguments(path)) {
    const text = await asking.run(args)
    if (text.trim() === '') continue
    const help = parseHelp(text)
    const { options, commands, usage } = help.document
    // A command that is not known often brings the help of the program again.
    const fresh = path.length === 0 || !asking.seen.has(text)
    asking.seen.add(text)
    if (!fresh) continue
    if (options.length + commands.length > 0 && !isManualPage(text)) return help
    if (options.length + commands.length > (best?.document.options.length ?? 0) || usage !== '')
      best ??= help
  }
  return best
}

/** A manual page is long and mostly prose; what the program prints itself is preferred. */
function isManualPage(text: string): boolean {
  return /^\s*[\w.+-]+\(\d\w?\)\s/.test(text.slice(0, 200).replace(/.\u0008/g, ''))
}

type WantedCommand = { readonly path: readonly string[]; readonly summary: string }

async function describeCommands(
  asking: HelpRequests,
  wanted: readonly WantedCommand[],
  depth: number,
): Promise<ProgramNode[]> {
  const nodes: ProgramNode[] = []
  for (let index = 0; index < wanted.length; index += HELP_CONCURRENCY) {
    const found = await Promise.all(
      wanted
        .slice(index, index + HELP_CONCURRENCY)
        .map((one) => describeCommand(asking, one, depth)),
    )
    nodes.push(...found.filter((node) => node !== undefined))
  }
  return nodes
}

async function describeCommand(
  asking: HelpRequests,
  { path, summary }: WantedCommand,
  depth: number,
): Promise<ProgramNode | undefined> {
  if (asking.left <= 0) return undefined
  asking.left--
  const help = await requestHelp(asking, path)
  if (!help) return undefined
  const children = await describeSubcommands(asking, help, path, depth)
  return { path, help, summary, children }
}

async function describeSubcommands(
  asking: HelpRequests,
  { document }: ParsedHelp,
  path: readonly string[],
  depth: number,
): Promise<ProgramNode[]> {
  if (depth <= 0) return []
  const wanted = document.commands
    .filter(({ name }) => /^[\p{L}\d][\p{L}\d_:.+-]*$/u.test(name))
    .filter(({ name }) => !/^(?:help|version|completions?)$/.test(name))
    .map(({ name, description }) => ({ path: [...path, name], summary: description }))
  return describeCommands(asking, wanted, depth - 1)
}

type HelpRunnerOptions = {
  readonly command: readonly [program: string, ...args: string[]]
  /** The environment of the host; the program gets very little of it. */
  readonly env: HostEnv
  /** Variables that the program gets besides. */
  readonly given?: { readonly [name: string]: string }
  /** Ask even where there is no sandbox. */
  readonly unsandboxed: boolean
  readonly signal?: AbortSignal
}

const HELP_TIMEOUT_MS = 10_000
const MAX_HELP_BYTES = 8 * MEBIBYTE
// Wide enough that few lines are wrapped, and no pager waits for somebody.
const PLAIN_OUTPUT_VARIABLES = {
  COLUMNS: '120',
  PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_PAGER: 'cat',
  MANWIDTH: '120',
  LC_ALL: 'C.UTF-8',
  LANGUAGE: 'en',
}

/**
 * A way to ask a program for help in a sandbox. Throws SANDBOX_UNAVAILABLE where there is none and
 * it was not allowed to do without.
 */
export async function createHelpRunner({
  command: [program, ...fixed],
  env,
  given = {},
  unsandboxed,
  signal,
}: HelpRunnerOptions): Promise<RunForHelp> {
  const sandbox = await findSandbox(env)
  if (!sandbox.available && !unsandboxed) throw sandbox.problem
  // The program and the file that it links to, which a hidden home may contain.
  const readable = [...new Set([program, resolveRealPath(program) ?? program])]
  const ask = async (args: readonly string[], home: string): Promise<string> => {
    const { reason, problem, stdout, stderr } = await runChild(
      compact({
        command: [program, ...fixed, ...args],
        cwd: '/',
        env: { ...buildProbeEnv(env, home), ...PLAIN_OUTPUT_VARIABLES, ...given },
        timeout: HELP_TIMEOUT_MS,
        maxStdout: MAX_HELP_BYTES,
        maxStderr: MAX_HELP_BYTES,
        signal,
        sandbox: sandbox.available
          ? ({ writable: 'private-tmp', network: 'none', readable } as const)
          : undefined,
      }),
    )
    if (reason === 'not-started')
      throw problem ?? new ToolError('CONFIG', `${program} cannot be started`)
    const text = stdout.toString()
    return text.trim() === '' ? stderr.toString() : text
  }
  return (args) =>
    sandbox.available
      ? ask(args, PROBE_HOME)
      : // Some programs write into their home when they are only asked for help.
        withTemporaryFolder('toolable-help-', (home) => ask(args, home))
}
