import { resolve } from 'node:path'
import type { Io } from '../../contract/io.ts'
import { quoteForShell } from '../../contract/quote-for-shell.ts'
import { lookupKey } from '../../define/names.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { noTools, openModule, tellProblem } from '../../functions/open-module.ts'
import type { OpenedModule } from '../../functions/open-module.ts'
import { toolName } from '../../functions/read/tool-name.ts'
import { looksLikeModule } from '../../functions/locate/locate-module.ts'
import type { Host } from '../../surfaces/cli/host.ts'
import { main as runProgram } from '../../surfaces/cli/main.ts'
import type { Toolset } from '../../surfaces/toolset-type.ts'
import { exportedTools } from './exported-tools.ts'
import type { ModuleWords } from './find-module.ts'

const STRICT = '--strict'
const FRESH = '--no-cache'

/** The command line of a module whose functions are tools; gives the exit status. Throws CONFIG where it has none. */
export async function runModule(
  { module, rest }: ModuleWords,
  io: Io,
  host: Host,
): Promise<number> {
  const { own, words } = splitOwn(rest)
  const opened = await openModule(module, {
    cwd: io.cwd,
    env: io.env,
    strict: own.includes(STRICT),
    fresh: own.includes(FRESH),
  })
  if (words.some((word) => word === '--verbose' || /^-v+$/.test(word))) tellProblems(opened, io)
  refuseByName(opened, words)
  const program = Object.create(await programOf(opened, host), {
    command: { value: `toolable ${quoteForShell(module)}` },
  }) as Toolset
  return runProgram(program, words, io, {
    ...host,
    started: {
      ...host.started,
      args: [looksLikeModule(module) ? resolve(io.cwd, module) : module],
    },
  })
}

/** A module as a program of its own. */
export async function programOf(
  opened: OpenedModule,
  host: Pick<Host, 'makeToolset'>,
): Promise<Toolset> {
  const { name, version, description } = opened.manifest
  const functions = opened.tools()
  const others = opened.hasTools ? await exportedTools(opened) : undefined
  if (functions.length === 0 && !others) throw noTools(opened)
  const set = host.makeToolset({
    name,
    ...(version !== undefined && { version }),
    ...(description !== undefined && { description }),
    tools: functions,
  })
  for (const tool of others?.tools ?? []) set.add(tool)
  for (const resource of others?.resources ?? []) set.addResource(resource)
  for (const prompt of others?.prompts ?? []) set.addPrompt(prompt)
  return set
}

// Who asks for an export that could not become a tool hears why, not that there is none.
function refuseByName(
  { manifest: { name: program, functions, problems } }: OpenedModule,
  words: readonly string[],
): void {
  const word = words.find((each) => !each.startsWith('-'))
  if (word === undefined) return
  const asked = lookupKey(word)
  if (functions.some(({ name }) => lookupKey(name) === asked)) return
  const isMeant = (name: string): boolean => name === word || lookupKey(toolName(name)) === asked
  const problem = problems.find(
    ({ severity, export: path }) =>
      severity === 'error' && isMeant(path === 'default' ? program : path.split('.').at(-1)!),
  )
  if (problem)
    throw new ToolError('CONFIG', tellProblem(problem), {
      suggestion: problem.fix,
      details: { problems: [problem] },
    })
}

// They stand before the name of a tool, and the program itself does not know them.
function splitOwn(rest: readonly string[]): {
  readonly own: readonly string[]
  readonly words: readonly string[]
} {
  let end = 0
  while (end < rest.length && rest[end]!.startsWith('-') && rest[end] !== '--') end += 1
  const before = rest.slice(0, end)
  return {
    own: before.filter((word) => word === STRICT || word === FRESH),
    words: [...before.filter((word) => word !== STRICT && word !== FRESH), ...rest.slice(end)],
  }
}

function tellProblems({ manifest }: OpenedModule, io: Io): void {
  for (const problem of manifest.problems)
    io.stderr.write(
      `${problem.severity === 'note' ? 'note' : 'warning'}: ${tellProblem(problem)}\n`,
    )
}
