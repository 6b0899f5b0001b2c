import type { ToolTree } from '../../call/collect.ts'
import type { AnyTool } from '../../call/tool.ts'
import type { Builtin } from './builtin.ts'

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
