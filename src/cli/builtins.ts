/**
 * The table of built-in commands: which folder implements each of them. A new command is one entry
 * here and one in `BUILTIN_COMMANDS`.
 */

import type { Servable } from '../core/provider.ts'
import { mcpCommands } from '../mcp/serve.ts'
import { compact } from '../util/values.ts'
import { toToolTree } from './builtin-names.ts'
import type { BuiltinCommand, BuiltinFactory, CommandHost, Toolset } from './types.ts'

// The MCP server is imported statically: a client waits for it to start.

type BuiltinSource = {
  load(): Promise<BuiltinFactory>
  /** The only sub-word that it answers; who asks for that needs no other folder. */
  readonly subcommand?: string
}

const INSTALL_SOURCE: BuiltinSource = {
  load: async () => (await import('../install/commands.ts')).installCommands,
}

// By the first word of a command. Two folders may share a word; names, sub-words and summaries are
// in builtin-names.ts.
const BUILTIN_SOURCES: { readonly [word: string]: readonly BuiltinSource[] } = {
  docs: [{ load: async () => (await import('../docs/command.ts')).docsCommands }],
  mcp: [{ load: async () => mcpCommands, subcommand: 'serve' }, INSTALL_SOURCE],
  skills: [INSTALL_SOURCE],
  completion: [{ load: async () => (await import('./completion-scripts.ts')).completionCommands }],
  serve: [{ load: async () => (await import('../http/command.ts')).httpCommands }],
}

/**
 * The commands under one word, as far as this build has them; with the sub-word that is wanted,
 * perhaps only those that could be meant.
 */
export async function loadBuiltins(
  word: string,
  set: Servable,
  host: CommandHost,
  sub?: string,
): Promise<readonly BuiltinCommand[]> {
  const folders = Object.hasOwn(BUILTIN_SOURCES, word) ? BUILTIN_SOURCES[word]! : []
  const own = sub === undefined ? undefined : folders.find((folder) => folder.subcommand === sub)
  const modules = await Promise.all((own ? [own] : folders).map(({ load }) => load()))
  return modules.flatMap((module) => module(set, host)).filter(({ path }) => path[0] === word)
}

/**
 * The toolset that built-in commands belong to: named like the program, so that help and outcomes
 * name the program too.
 */
export function createBuiltinToolset(
  builtins: readonly BuiltinCommand[],
  { name, version, options: { defaultOutput } }: Servable,
  host: CommandHost,
): Toolset {
  return host.makeToolset(compact({ name, version, defaultOutput, tools: toToolTree(builtins) }))
}
