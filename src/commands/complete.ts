/**
 * Shell completion: what every program completes, plus names of tools and ids of runs.
 */

import { completeCommandLine as completeProgram, completeWords } from '../cli/complete.ts'
import type { Completion, CompletionCandidate } from '../cli/completion-position.ts'
import { formatCompletion } from '../cli/completion-position.ts'
import { printText } from '../cli/documents.ts'
import type { CommandHost } from '../cli/types.ts'
import type { Servable } from '../core/provider.ts'
import { GLOBAL_FLAGS } from '../define/global-flags.ts'
import { openModule } from '../functions/open-module.ts'
import type { Io } from '../protocol/io.ts'
import { listRuns, readRunRequest } from '../runner/find-run.ts'
import { findRunsFolder } from '../runner/run-paths.ts'
import { compact } from '../util/values.ts'
import { findModule } from './argv.ts'
import { REGISTRY_PROPERTIES } from './command.ts'
import type { RegistryFlags } from './config.ts'
import { withRegistry } from './config.ts'
import { RUN_PROPERTIES } from './definitions/tool-commands.ts'
import { createModuleProgram as moduleProgram } from './run-module.ts'
import { listCommands } from './table.ts'
import { createSingleToolView } from './tool-arguments.ts'

const TOOL_COMMANDS = ['call', 'describe', 'schema', 'run']
// Flags before the name of a tool behind which a value stands.
const VALUE_FLAGS = [
  ...Object.entries({ ...REGISTRY_PROPERTIES, ...RUN_PROPERTIES })
    .filter(([, { type }]) => type !== 'boolean')
    .map(([name]) => toLongFlag(name)),
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
  const [command = '', ...rest] = words
  const module = rest.length > 0 ? findModule(words, listCommands(), io.cwd) : undefined
  const set =
    module &&
    (await openModule(module.module, { cwd: io.cwd, env: io.env })
      .then((opened) => moduleProgram(opened, host))
      .catch(() => undefined))
  if (set) return completeProgram(set, rest, io, host)
  const found =
    completeRuns(words, io) ??
    (TOOL_COMMANDS.includes(command) && rest.length > 0
      ? await completeTools(program, command, rest, io)
      : undefined)
  return found ? printText(io, formatCompletion(found)) : completeProgram(program, given, io, host)
}

// Undefined where the word under the cursor has nothing to do with a tool.
async function completeTools(
  program: Servable,
  command: string,
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
      if (at === words.length - 1) {
        const candidates = registry
          .list()
          .flatMap(({ id, name, summary, shadowed_by }): CompletionCandidate[] => [
            ...(shadowed_by === undefined ? [{ value: name, description: summary }] : []),
            ...(current.includes('.') || shadowed_by !== undefined
              ? [{ value: id, description: summary }]
              : []),
          ])
        return {
          candidates: candidates.filter(({ value }) => value.startsWith(current)),
          directive: 'none',
        }
      }
      const entry = command === 'call' || command === 'run' ? registry.find(words[at]!) : undefined
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

function findToolPosition(words: readonly string[]): number | undefined {
  for (let index = 0; index < words.length; index++) {
    if (VALUE_FLAGS.includes(words[index]!)) index++
    else if (!words[index]!.startsWith('-') || index === words.length - 1) return index
  }
  return undefined
}

function parseRegistryFlags(words: readonly string[]): RegistryFlags {
  const valuesOf = (flag: string): string[] =>
    words.flatMap((word, index) =>
      word.startsWith(`${flag}=`)
        ? [word.slice(flag.length + 1)]
        : words[index - 1] === flag
          ? [word]
          : [],
    )
  const config = valuesOf('--config').at(-1)
  const folder = valuesOf('--folder')
  return compact({ config, folder: folder.length > 0 ? folder : undefined })
}

function toLongFlag(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

const RUN_COMMANDS = [
  'watch',
  'cancel',
  'answer',
  'resume',
  'runs show',
  'runs logs',
  'runs export',
  'workflow show',
  'workflow watch',
  'workflow cancel',
  'workflow answer',
  'workflow resume',
]
const MAX_RUNS = 50

/**
 * The runs that the word under the cursor may become, newest first; undefined where it is no run.
 */
function completeRuns(words: readonly string[], { cwd }: Io): Completion | undefined {
  const command = RUN_COMMANDS.find((each) => `${words.join(' ')} `.startsWith(`${each} `))
  const given = words.slice(command?.split(' ').length)
  const current = given.at(-1)
  if (command === undefined || current === undefined || current.startsWith('-')) return undefined
  // Only watch takes several, and behind a flag its value may stand.
  if (command.endsWith('watch') ? given.at(-2)?.startsWith('-') : given.length > 1) return undefined
  return {
    candidates: listRunCandidates(cwd).filter(({ value }) => value.startsWith(current)),
    directive: 'none',
  }
}

// Whoever completes wants no error.
function listRunCandidates(cwd: string): readonly CompletionCandidate[] {
  try {
    const runs = listRuns(findRunsFolder(cwd, undefined)).slice(0, MAX_RUNS)
    return runs.length === 0
      ? []
      : [
          { value: 'latest', description: 'The newest run' },
          ...runs.map(({ id, paths }) => ({ value: id, description: getRunTool(paths) })),
        ]
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
