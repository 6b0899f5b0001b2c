import { ToolError } from '../contract/tool-error.ts'
import { checkName, lookupKey } from '../define/names.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import type { Identity } from './finished.ts'
import { definitionOf, isTool } from './tool.ts'
import type { AnyTool } from './tool.ts'

/** Tools as an author groups them: a list, or a record whose keys name groups (lists, records) or tools. */
export type ToolTree = readonly AnyTool[] | { readonly [name: string]: AnyTool | ToolTree }

/** One tool of a toolset. Its path is its command (`pr list`), its name the same in one word (`pr_list`). */
export type ToolEntry = {
  readonly name: string
  readonly path: readonly string[]
  readonly definition: ToolDefinition
  /** Whose tool it is, where that is not the toolset that it was found in. */
  readonly identity?: Identity
}

/** Flattens a tree of tools, naming each by its groups. */
export function collectTools(tree: ToolTree, group: readonly string[] = []): ToolEntry[] {
  if (Array.isArray(tree)) return (tree as readonly AnyTool[]).map((tool) => enter(tool, group))
  return Object.entries(tree as { readonly [name: string]: AnyTool | ToolTree }).flatMap(([name, value]) => {
    if (isTool(value)) return [enter(value, group, name)]
    if (typeof value !== 'object' || value === null) throw notATool(value, [...group, name].join('.'))
    checkName('group', name)
    return collectTools(value, [...group, name])
  })
}

/** One tool under an optional new name and group. */
export function enter(tool: AnyTool, group: readonly string[] = [], name?: string): ToolEntry {
  if (!isTool(tool)) throw notATool(tool, group.join('.') || 'tools')
  const definition = definitionOf(tool)
  const own = name ?? withoutPrefix(definition.name, group)
  const full = [...group, own].join('_')
  checkName('tool', full)
  return { name: full, path: [...group, own].map((word) => word.replaceAll('_', '-')), definition: full === definition.name ? definition : definition.renamed(full) }
}

/** Refuses a second tool of the same name, and a command that is also a group. */
export function addEntry(entries: Map<string, ToolEntry>, entry: ToolEntry): void {
  const key = lookupKey(entry.name)
  const other = entries.get(key)
  if (other) throw new ToolError('CONFIG', `two tools are called '${other.name}'${other.name === entry.name ? '' : ` ('${entry.name}' is the same name)`}: rename one, for example with add(tool, 'other_name')`)
  for (const existing of entries.values()) {
    if (isPrefix(existing.path, entry.path) || isPrefix(entry.path, existing.path)) {
      throw new ToolError('CONFIG', `'${existing.path.join(' ')}' and '${entry.path.join(' ')}' cannot both be commands: one is a group of the other`)
    }
  }
  entries.set(key, entry)
}

function isPrefix(short: readonly string[], long: readonly string[]): boolean {
  return short.length < long.length && short.every((word, index) => lookupKey(word) === lookupKey(long[index]!))
}

// A tool `pr_list` in the group `pr` is the command `pr list`, not `pr pr_list`.
function withoutPrefix(name: string, group: readonly string[]): string {
  const prefix = `${lookupKey(group.join('_'))}_`
  return group.length > 0 && lookupKey(name).startsWith(prefix) && name.length > prefix.length ? name.slice(prefix.length) : name
}

function notATool(value: unknown, place: string): ToolError {
  const what = typeof value === 'function' ? 'a plain function' : value === null ? 'null' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
  return new ToolError('CONFIG', `${place} holds ${what} where a tool is expected: wrap it with tool({ name, summary, run })`)
}
