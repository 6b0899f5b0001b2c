import { closest } from '../../contract/did-you-mean.ts'
import type { Io } from '../../contract/io.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { Toolset } from '../toolset-type.ts'
import { COMPLETE_COMMAND, SHELLS } from './builtin-commands.ts'

type Builtin = (set: Toolset, rest: readonly string[], io: Io) => Promise<string>

const BUILTINS: { readonly [name: string]: Builtin } = {
  async completion(set, [shell]) {
    const { completionScript } = await import('./completion/completion-script.ts')
    const known = SHELLS.find((name) => name === shell)
    if (known) return completionScript(known, set.name)
    const meant = shell === undefined ? undefined : closest(shell, SHELLS)
    throw new ToolError('USAGE', shell === undefined ? `completion needs a shell: ${SHELLS.join(', ')}` : `there is no completion for '${shell}'; ${meant ? `did you mean ${meant}?` : `the shells are ${SHELLS.join(', ')}`}`, { suggestion: { fix: 'Name one of the shells', example: `${set.name} completion bash` } })
  },
  async [COMPLETE_COMMAND](set, rest) {
    const [{ completeWords }, { formatCompletion }] = await Promise.all([import('./completion/complete-words.ts'), import('./completion/completion.ts')])
    return formatCompletion(completeWords(await set.manifest(), rest[0] === '--' ? rest.slice(1) : rest))
  },
}

/** Runs a command that every program has. */
export async function runBuiltin(set: Toolset, name: string, rest: readonly string[], io: Io): Promise<number> {
  const builtin = Object.hasOwn(BUILTINS, name) ? BUILTINS[name] : undefined
  if (!builtin) throw new ToolError('USAGE', `'${name}' is not part of this build of toolable`)
  io.stdout.write(await builtin(set, rest, io))
  await io.stdout.flush()
  return 0
}
