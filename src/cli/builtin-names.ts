/**
 * The names and summaries of the commands that every program has. Separate from `builtins.ts`,
 * because help, completion and the parser need the names at every start and a build reads them in a
 * process of its own.
 */

import type { ToolTree } from '../core/provider.ts'
import type { AnyTool } from '../core/tool.ts'
import type { BuiltinCommand } from './types.ts'

/** The shells that completion scripts are written for. */
export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const

/** The kinds of documents that a program can make about itself. */
export const DOC_KIND_NAMES = [
  'skill',
  'agents',
  'claude',
  'command',
  'subagent',
  'llms',
  'man',
  'openapi',
  'markdown',
] as const

/** What completion scripts call. Never offered, and never given to a tool. */
export const COMPLETE_COMMAND = '__complete'

/** Commands that every program has besides its tools. A tool of the same name wins. */
export const BUILTIN_COMMANDS: readonly {
  readonly name: string
  readonly words: readonly string[]
  readonly summary: string
}[] = [
  {
    name: 'docs',
    words: DOC_KIND_NAMES,
    summary: 'Print or write a skill, agent files, a manual page and more',
  },
  {
    name: 'mcp',
    words: ['serve', 'add', 'remove', 'list'],
    summary: 'Serve the tools over MCP, and install that into agents',
  },
  {
    name: 'skills',
    words: ['add', 'remove', 'list'],
    summary: 'Install a skill about this program into agents',
  },
  { name: 'completion', words: SHELLS, summary: 'Print a completion script for a shell' },
  { name: 'serve', words: ['http'], summary: 'Serve the tools over HTTP' },
]

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
