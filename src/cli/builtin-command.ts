/**
 * A command that every program has besides its tools.
 */

import type { AnyTool, Servable, ToolTree } from '../core/tool.ts'
import type { Io } from '../protocol/io.ts'
import type { GlobalFlags } from './global-flags.ts'
import type { CommandHost } from './host.ts'

/**
 * What a command that owns stdin and stdout works with. `set` is the author's toolset, not the one
 * that the command belongs to.
 */
export type BuiltinContext = {
  readonly set: Servable
  readonly io: Io
  readonly host: CommandHost
  readonly globals: GlobalFlags
}

/**
 * A command that every program has, written as a tool: flags, help, completion and `--json` come
 * with it.
 */
export type BuiltinCommand = {
  /** The words that name it: `['docs']`, or `['mcp', 'add']`. */
  readonly path: readonly string[]
  readonly tool: AnyTool
  /**
   * With it the command owns stdin and stdout and gives the exit status; the tool's own `run` is
   * not used. The input is checked before.
   * A command that runs handlers calls `host.prepareForTools` itself. Where it gives no status, the
   * tool's own `run` answers after all.
   */
  readonly start?: (input: unknown, context: BuiltinContext) => Promise<number | undefined>
}

/**
 * What a feature folder exports from its `commands.ts`: the commands that it gives to a program, as
 * it was started.
 */
export type BuiltinFactory = (set: Servable, host: CommandHost) => readonly BuiltinCommand[]

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
