import type { Host } from '../cli/host.ts'
import type { Servable } from '../../call/servable.ts'
// Not late: this file is loaded with the server, for which somebody waits.
import { mcpCommands } from '../mcp/commands.ts'
import type { Builtin, BuiltinModule } from './builtin.ts'

type Folder = {
  load(): Promise<BuiltinModule>
  /** The only sub-word that it answers; who asks for that needs no other folder. */
  readonly sub?: string
}

const install: Folder = {
  load: async () => (await import('../install/commands.ts')).installCommands,
}

// By the first word of a command. Two folders may share a word; its name, sub-words and summary stand in cli/builtin-commands.ts too.
const FOLDERS: { readonly [word: string]: readonly Folder[] } = {
  docs: [{ load: async () => (await import('../docs/commands.ts')).docsCommands }],
  mcp: [{ load: async () => mcpCommands, sub: 'serve' }, install],
  skills: [install],
  completion: [
    { load: async () => (await import('../cli/completion/commands.ts')).completionCommands },
  ],
  serve: [{ load: async () => (await import('../http/commands.ts')).httpCommands }],
}

/** The commands under one word, as far as this build has them; with the sub-word that is wanted, perhaps only those that could be meant. */
export async function builtinsOf(
  word: string,
  set: Servable,
  host: Host,
  sub?: string,
): Promise<readonly Builtin[]> {
  const folders = Object.hasOwn(FOLDERS, word) ? FOLDERS[word]! : []
  const own = sub === undefined ? undefined : folders.find((folder) => folder.sub === sub)
  const modules = await Promise.all((own ? [own] : folders).map(({ load }) => load()))
  return modules.flatMap((module) => module(set, host)).filter(({ path }) => path[0] === word)
}
