/**
 * Shell completion: what every program completes, plus names of tools and ids of runs.
 */

import { completeCommandLine as completeProgram, completeWords } from '../cli/complete.ts'
import type { Completion, CompletionCandidate } from '../cli/completion-position.ts'
import { formatCompletion } from '../cli/completion-position.ts'
import { printText } from '../cli/documents.ts'
import type { CommandHost } from '../cli/types.ts'
import type { Servable } from '../core/provider.ts'
import { toFlagName } from '../define/argv.ts'
import { GLOBAL_FLAGS } from '../define/global-flags.ts'
import { openModule } from '../functions/open-module.ts'
import type { Io } from '../protocol/io.ts'
import type { Registry } from '../registry/types.ts'
import { listRuns, readRunRequest } from '../runner/find-run.ts'
import { findRunsFolder } from '../runner/run-paths.ts'
import { compact } from '../util/values.ts'
import { findModule } from './argv.ts'
import { createSingleToolView } from './call.ts'
import type { ToolableCommand } from './command.ts'
import { REGISTRY_PROPERTIES, RUN_PROPERTIES } from './command.ts'
import type { RegistryFlags } from './config.ts'
import { withRegistry } from './config.ts'
import { createModuleProgram } from './run-module.ts'
import { COMMANDS, findCommand } from './table.ts'

// Flags before the name of a tool behind which a value stands.
const VALUE_FLAGS = [
  ...Object.entries({ ...REGISTRY_PROPERTIES, ...RUN_PROPERTIES })
    .filter(([, { type }]) => type !== 'boolean')
    .map(([name]) => `--${toFlagName(name)}`),
  ...GLOBAL_FLAGS.filter(({ kind }) => kind === 'value' || kind === 'list').flatMap(
    ({ long, short }) => [`--${long}`, ...(short === undefined ? [] : [`-${short}`])],
  ),
]

/**
 * Answers a completion script: what every program completes, and the names and flags of the tools
 * of the registry.
 */
export async function complete(
  program: Servable,
  given: readonly string[],
  io: Io,
  host: CommandHost,
): Promise<number> {
  const words = given[0] === '--' ? given.slice(1) : given
  const module = words.length > 1 ? findModule(words, COMMANDS, io.cwd) : undefined
  const set =
    module &&
    (await openModule(module.module, { cwd: io.cwd, env: io.env })
      .then((opened) => createModuleProgram(opened, host))
      .catch(() => undefined))
  if (set) return completeProgram(set, module.rest, io, host)
  const command = findCommand(words)
  const rest = words.slice(command?.path.length)
  const found = command && (await completeName(program, command, rest, io))
  return found ? printText(io, formatCompletion(found)) : completeProgram(program, given, io, host)
}

// Undefined where the command names neither a tool nor a run, or the cursor is elsewhere.
async function completeName(
  program: Servable,
  command: ToolableCommand,
  words: readonly string[],
  io: Io,
): Promise<Completion | undefined> {
  if (words.length === 0 || command.completes === undefined) return undefined
  return command.completes === 'tool'
    ? completeTools(program, command, words, io)
    : completeRuns(command.completes, words, io)
}

// Undefined where the word under the cursor has nothing to do with a tool.
async function completeTools(
  program: Servable,
  command: ToolableCommand,
  words: readonly string[],
  io: Io,
): Promise<Completion | undefined> {
  const at = findToolPosition(words)
  const current = words.at(-1)!
  if (at === undefined || (at === words.length - 1 && current.startsWith('-'))) return undefined
  return withRegistry(
    parseRegistryFlags(words.slice(0, at)),
    io,
    async (registry): Promise<Completion | undefined> => {
      if (at === words.length - 1)
        return toCompletion(listToolCandidates(registry, current), current)
      const entry = command.runRaw && registry.find(words[at]!)
      if (!entry) return undefined
      await registry.prepare?.()
      // Among the commands of the program, because an only tool would need no name.
      const [own, view] = await Promise.all([
        program.manifest(),
        createSingleToolView(registry, entry).manifest(),
      ])
      return completeWords(
        { ...own, tools: [...own.tools.filter(({ path }) => path[0] !== 'call'), ...view.tools] },
        ['call', entry.name, ...words.slice(at + 1)],
      )
    },
  ).catch(() => undefined)
}

function listToolCandidates(registry: Registry, current: string): readonly CompletionCandidate[] {
  return registry.list().flatMap(({ id, name, summary, shadowed_by }) => {
    const isShadowed = shadowed_by !== undefined
    const names = isShadowed ? [] : [name]
    const ids = isShadowed || current.includes('.') ? [id] : []
    return [...names, ...ids].map((value) => ({ value, description: summary }))
  })
}

function toCompletion(all: readonly CompletionCandidate[], current: string): Completion {
  return { candidates: all.filter(({ value }) => value.startsWith(current)), directive: 'none' }
}

function findToolPosition(words: readonly string[]): number | undefined {
  for (let index = 0; index < words.length; index++) {
    if (VALUE_FLAGS.includes(words[index]!)) index++
    else if (!words[index]!.startsWith('-') || index === words.length - 1) return index
  }
  return undefined
}

function parseRegistryFlags(words: readonly string[]): RegistryFlags {
  const valuesOf = (flag: string): string[] =>
    words.flatMap((word, index) => {
      if (word.startsWith(`${flag}=`)) return [word.slice(flag.length + 1)]
      return words[index - 1] === flag ? [word] : []
    })
  const config = valuesOf('--config').at(-1)
  const folder = valuesOf('--folder')
  return compact({ config, folder: folder.length > 0 ? folder : undefined })
}

const MAX_RUNS = 50

// The runs that the word under the cursor may become, newest first; undefined where it is no run.
function completeRuns(
  completes: 'run' | 'runs',
  words: readonly string[],
  { cwd }: Io,
): Completion | undefined {
  const current = words.at(-1)!
  if (current.startsWith('-')) return undefined
  // After a flag its value may stand.
  const isElsewhere = completes === 'runs' ? words.at(-2)?.startsWith('-') : words.length > 1
  return isElsewhere ? undefined : toCompletion(listRunCandidates(cwd), current)
}

// A completion never fails.
function listRunCandidates(cwd: string): readonly CompletionCandidate[] {
  try {
    const runs = listRuns(findRunsFolder(cwd, undefined)).slice(0, MAX_RUNS)
    if (runs.length === 0) return []
    const rows = runs.map(({ id, paths }) => ({ value: id, description: getRunTool(paths) }))
    return [{ value: 'latest', description: 'The newest run' }, ...rows]
  } catch {
    return []
  }
}

function getRunTool(paths: Parameters<typeof readRunRequest>[0]): string {
  try {
    return readRunRequest(paths).tool
  } catch {
    return 'A run that cannot be read'
  }
}
