/**
 * The names of the commands that every program has. Separate from `builtins.ts`, because help,
 * completion and the parser need the names at every start and a build reads them in a process of
 * its own.
 */

import type { ToolTree } from '../core/provider.ts'
import type { AnyTool } from '../core/tool.ts'
import type { BuiltinCommand } from './types.ts'

/** The shells that completion scripts are written for. */
export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const

/** What completion scripts call. Never offered, and never given to a tool. */
export const COMPLETE_COMMAND = '__complete'

/** Commands that every program has besides its tools. A tool of the same name wins. */
export const BUILTIN_NAMES = ['docs', 'mcp', 'skills', 'completion', 'serve'] as const

type MutableToolTree = { [word: string]: AnyTool | MutableToolTree }

/** Commands as the tree of tools that their words make. */
export function toToolTree(builtins: readonly BuiltinCommand[]): ToolTree {
  const tree: MutableToolTree = {}
  for (const { path, tool } of builtins) {
    const group = path
      .slice(0, -1)
      .reduce((inside, word) => (inside[word] ??= {}) as MutableToolTree, tree)
    group[path.at(-1)!] = tool
  }
  return tree
}
