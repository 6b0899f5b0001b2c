/**
 * `toolable <module>`: the functions and tools of a module as a program.
 */

import { resolve } from 'node:path'
import { main as runProgram } from '../cli/main.ts'
import type { CommandHost, Toolset } from '../cli/types.ts'
import { toLookupKey } from '../core/call.ts'
import type { AnyTool } from '../core/tool.ts'
import { isTool } from '../core/tool.ts'
import type { Prompt } from '../define/prompt.ts'
import { isPrompt } from '../define/prompt.ts'
import type { Resource } from '../define/resource.ts'
import { isResource } from '../define/resource.ts'
import { looksLikeModule } from '../functions/locate.ts'
import { toToolName } from '../functions/manifest.ts'
import type { OpenedModule } from '../functions/open-module.ts'
import { createNoToolsError, formatProblem, openModule } from '../functions/open-module.ts'
import type { Io } from '../protocol/io.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { quoteForShell } from '../util/text.ts'
import { compact } from '../util/values.ts'
import type { ModuleCommandLine } from './argv.ts'

const STRICT_FLAG = '--strict'
const NO_CACHE_FLAG = '--no-cache'

/**
 * The command line of a module whose functions are tools; gives the exit status. Throws CONFIG
 * where it has none.
 */
export async function runModule(
  { module, rest }: ModuleCommandLine,
  io: Io,
  host: CommandHost,
): Promise<number> {
  const { own, words } = splitOwnFlags(rest)
  const opened = await openModule(module, {
    cwd: io.cwd,
    env: io.env,
    strict: own.includes(STRICT_FLAG),
    fresh: own.includes(NO_CACHE_FLAG),
  })
  if (words.some((word) => word === '--verbose' || /^-v+$/.test(word))) printProblems(opened, io)
  rejectFailedExport(opened, words)
  const program = Object.create(await createModuleProgram(opened, host), {
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

/** A module as a program. */
export async function createModuleProgram(
  opened: OpenedModule,
  host: Pick<CommandHost, 'makeToolset'>,
): Promise<Toolset> {
  const { name, version, description } = opened.manifest
  const functions = opened.tools()
  const others = opened.hasTools ? await loadModuleExports(opened) : undefined
  if (functions.length === 0 && !others) throw createNoToolsError(opened)
  const set = host.makeToolset(compact({ name, version, description, tools: functions }))
  for (const tool of others?.tools ?? []) set.add(tool)
  for (const resource of others?.resources ?? []) set.addResource(resource)
  for (const prompt of others?.prompts ?? []) set.addPrompt(prompt)
  return set
}

// Who asks for an export that could not become a tool hears why, not that there is none.
function rejectFailedExport(
  { manifest: { name: program, functions, problems } }: OpenedModule,
  words: readonly string[],
): void {
  const word = words.find((each) => !each.startsWith('-'))
  if (word === undefined) return
  const asked = toLookupKey(word)
  if (functions.some(({ name }) => toLookupKey(name) === asked)) return
  const isMeant = (name: string): boolean =>
    name === word || toLookupKey(toToolName(name)) === asked
  const problem = problems.find(
    ({ severity, export: path }) =>
      severity === 'error' && isMeant(path === 'default' ? program : path.split('.').at(-1)!),
  )
  if (problem)
    throw new ToolError('CONFIG', formatProblem(problem), {
      suggestion: problem.fix,
      details: { problems: [problem] },
    })
}

// They stand before the name of a tool, and the program itself does not know them.
function splitOwnFlags(rest: readonly string[]): {
  readonly own: readonly string[]
  readonly words: readonly string[]
} {
  let end = 0
  while (end < rest.length && rest[end]!.startsWith('-') && rest[end] !== '--') end += 1
  const before = rest.slice(0, end)
  return {
    own: before.filter((word) => word === STRICT_FLAG || word === NO_CACHE_FLAG),
    words: [
      ...before.filter((word) => word !== STRICT_FLAG && word !== NO_CACHE_FLAG),
      ...rest.slice(end),
    ],
  }
}

function printProblems({ manifest }: OpenedModule, io: Io): void {
  for (const problem of manifest.problems)
    io.stderr.write(
      `${problem.severity === 'note' ? 'note' : 'warning'}: ${formatProblem(problem)}\n`,
    )
}

/**
 * What a module exports that was made with tool(), resource() and prompt(). It has to be imported
 * for that.
 */
type ModuleDefinitions = {
  readonly tools: readonly AnyTool[]
  readonly resources: readonly Resource[]
  readonly prompts: readonly Prompt[]
}

/** Imports a module and gives what it has made itself; undefined where that is nothing. */
async function loadModuleExports({
  load,
}: Pick<OpenedModule, 'load'>): Promise<ModuleDefinitions | undefined> {
  const values = [...new Set(Object.values(await load()))]
  const found = {
    tools: values.filter(isTool),
    resources: values.filter(isResource),
    prompts: values.filter(isPrompt),
  }
  return found.tools.length + found.resources.length + found.prompts.length > 0 ? found : undefined
}
