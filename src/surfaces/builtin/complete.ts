import type { Io } from '../../contract/io.ts'
import { findCommand } from '../cli/argv/command.ts'
import { completeWords } from '../cli/completion/complete-words.ts'
import { formatCompletion } from '../cli/completion/completion.ts'
import type { Completion } from '../cli/completion/completion.ts'
import type { Host } from '../cli/host.ts'
import { printText } from '../cli/print-document.ts'
import type { Servable } from '../../call/servable.ts'
import { builtinsOf } from './list.ts'
import { toolsetOf } from './toolset-of.ts'

/** Answers a completion script: `given` are the words after the program name, the one under the cursor last. */
export async function complete(
  set: Servable,
  given: readonly string[],
  io: Io,
  host: Host,
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
  host: Host,
): Promise<Completion | undefined> {
  const command = findCommand(set, words.slice(0, -1))
  const builtins = command.kind === 'builtin' ? await builtinsOf(command.name, set, host) : []
  if (command.kind !== 'builtin' || builtins.length === 0) return undefined
  return completeWords(await toolsetOf(builtins, set, host).manifest(), [
    command.name,
    ...command.rest,
    words.at(-1) ?? '',
  ])
}
