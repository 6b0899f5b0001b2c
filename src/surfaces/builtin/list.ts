import type { Host } from '../cli/host.ts'
import type { Toolset } from '../toolset-type.ts'
import type { Builtin, BuiltinModule } from './builtin.ts'

const loadInstall = async (): Promise<BuiltinModule> => (await import('../install/commands.ts')).installCommands

// By the first word of a command. Two folders may share a word; its name, sub-words and summary stand in cli/builtin-commands.ts too.
const MODULES: { readonly [word: string]: readonly (() => Promise<BuiltinModule>)[] } = {
  docs: [async () => (await import('../docs/commands.ts')).docsCommands],
  mcp: [async () => (await import('../mcp/commands.ts')).mcpCommands, loadInstall],
  skills: [loadInstall],
  completion: [async () => (await import('../cli/completion/commands.ts')).completionCommands],
  serve: [async () => (await import('../http/commands.ts')).httpCommands],
}

/** The commands under one word, as far as this build has them. */
export async function builtinsOf(word: string, set: Toolset, host: Host): Promise<readonly Builtin[]> {
  const modules = await Promise.all((Object.hasOwn(MODULES, word) ? MODULES[word]! : []).map((load) => load()))
  return modules.flatMap((module) => module(set, host)).filter(({ path }) => path[0] === word)
}
