import type { ToolTree } from '../../call/collect.ts'
import type { AnyTool } from '../../call/tool.ts'
import type { Host } from '../cli/host.ts'
import type { Servable } from '../../call/servable.ts'
import type { Toolset } from '../toolset-type.ts'
import type { Builtin } from './builtin.ts'

/** The toolset that built-in commands belong to: named like the program, so that help and outcomes name the program too. */
export function toolsetOf(builtins: readonly Builtin[], { name, version, options: { defaultOutput } }: Servable, host: Host): Toolset {
  return host.makeToolset({ name, version, ...(defaultOutput !== undefined && { defaultOutput }), tools: treeOf(builtins) })
}

type Tree = { [word: string]: AnyTool | Tree }

/** Commands as the tree of tools that their words make. */
export function treeOf(builtins: readonly Builtin[]): ToolTree {
  const tree: Tree = {}
  for (const { path, tool } of builtins) {
    const group = path.slice(0, -1).reduce((inside, word) => (inside[word] ??= {}) as Tree, tree)
    group[path.at(-1)!] = tool
  }
  return tree
}
