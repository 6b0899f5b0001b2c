import type { Io } from '../contract/io.ts'
import { complete as completeProgram } from '../surfaces/builtin/complete.ts'
import { completeWords } from '../surfaces/cli/completion/complete-words.ts'
import { formatCompletion } from '../surfaces/cli/completion/completion.ts'
import type { Candidate, Completion } from '../surfaces/cli/completion/completion.ts'
import type { Host } from '../surfaces/cli/host.ts'
import { printText } from '../surfaces/cli/print-document.ts'
import type { Servable } from '../call/servable.ts'
import { INJECTED_FLAGS } from '../define/flags/injected.ts'
import { oneToolView } from './call/one-tool-view.ts'
import type { Surroundings } from './config/load.ts'
import { openModule } from '../functions/open-module.ts'
import { findModule } from './functions/find-module.ts'
import { programOf as moduleProgram } from './functions/run-module.ts'
import { listCommands } from './list-commands.ts'
import { COMMON_PROPERTIES } from './common-flags.ts'
import { RUN_PROPERTIES } from './run/command.ts'
import { completeRuns } from './runs/complete-runs.ts'
import { withRegistry } from './with-registry.ts'

const TAKE_A_TOOL = ['call', 'describe', 'schema', 'run']
// Flags before the name of a tool behind which a value stands.
const WITH_VALUE = [
  ...Object.entries({ ...COMMON_PROPERTIES, ...RUN_PROPERTIES })
    .filter(([, { type }]) => type !== 'boolean')
    .map(([name]) => flagOf(name)),
  ...INJECTED_FLAGS.filter(({ kind }) => kind === 'value' || kind === 'list').flatMap(
    ({ long, short }) => [`--${long}`, ...(short === undefined ? [] : [`-${short}`])],
  ),
]

/** Answers a completion script: what every program completes, and the names and flags of the tools of the registry. */
export async function complete(
  program: Servable,
  given: readonly string[],
  io: Io,
  host: Host,
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
    (TAKE_A_TOOL.includes(command) && rest.length > 0
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
  const at = positionOfName(words)
  const current = words.at(-1)!
  if (at === undefined || (at === words.length - 1 && current.startsWith('-'))) return undefined
  return withRegistry(
    readSurroundings(words.slice(0, at)),
    io,
    async (registry): Promise<Completion | undefined> => {
      if (at === words.length - 1) {
        const candidates = registry
          .list()
          .flatMap(({ id, name, summary, shadowed_by }): Candidate[] => [
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
        oneToolView(registry, entry).manifest(),
      ])
      return completeWords(
        { ...own, tools: [...own.tools.filter(({ path }) => path[0] !== 'call'), ...view.tools] },
        ['call', entry.name, ...words.slice(at + 1)],
      )
    },
  ).catch(() => undefined)
}

function positionOfName(words: readonly string[]): number | undefined {
  for (let index = 0; index < words.length; index++) {
    if (WITH_VALUE.includes(words[index]!)) index++
    else if (!words[index]!.startsWith('-') || index === words.length - 1) return index
  }
  return undefined
}

function readSurroundings(words: readonly string[]): Surroundings {
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
  return { ...(config !== undefined && { config }), ...(folder.length > 0 && { folder }) }
}

function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
