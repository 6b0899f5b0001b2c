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
  return Object.entries(tree as { readonly [name: string]: AnyTool | ToolTree }).flatMap(
    ([name, value]) => {
      if (isTool(value)) return [enter(value, group, name)]
      if (typeof value !== 'object' || value === null)
        throw notATool(value, [...group, name].join('.'))
      checkName('group', name)
      return collectTools(value, [...group, name])
    },
  )
}

/** One tool under an optional new name and group. */
export function enter(tool: AnyTool, group: readonly string[] = [], name?: string): ToolEntry {
  if (!isTool(tool)) throw notATool(tool, group.join('.') || 'tools')
  const own = name ?? withoutPrefix(tool.name, group)
  const words = group.length === 0 ? [own] : [...group, own]
  const full = words.join('_')
  checkName('tool', full)
  return new Entered(
    full,
    words.map((word) => word.replaceAll('_', '-')),
    tool,
  )
}

// The definition waits until somebody needs it.
class Entered implements ToolEntry {
  readonly name: string
  readonly path: readonly string[]
  readonly #tool: AnyTool
  #definition: ToolDefinition | undefined

  constructor(name: string, path: readonly string[], tool: AnyTool) {
    this.name = name
    this.path = path
    this.#tool = tool
  }

  get definition(): ToolDefinition {
    if (this.#definition) return this.#definition
    const own = definitionOf(this.#tool)
    return (this.#definition = own.name === this.name ? own : own.renamed(this.name))
  }
}

/** Refuses a second tool of the same name, and a command that is also a group. */
export function addEntry(entries: Map<string, ToolEntry>, entry: ToolEntry): void {
  const key = lookupKey(entry.name)
  const other = entries.get(key)
  if (other)
    throw new ToolError(
      'CONFIG',
      `two tools are called '${other.name}'${other.name === entry.name ? '' : ` ('${entry.name}' is the same name)`}: rename one, for example with add(tool, 'other_name')`,
    )
  refuseGroup(entries, key, entry)
  entries.set(key, entry)
}

// The groups that entries were ever in, because two hundred tools would otherwise be compared with each other. One that was removed leaves its groups behind; they only make somebody look again.
const groups = new WeakMap<object, Set<string>>()

function refuseGroup(entries: Map<string, ToolEntry>, key: string, entry: ToolEntry): void {
  const known = groups.get(entries) ?? new Set<string>()
  if (known.size === 0 && entry.path.length === 1) return
  const own = entry.path
    .slice(1)
    .map((_word, index) => lookupKey(entry.path.slice(0, index + 1).join('_')))
  const clash =
    own
      .map((group) => entries.get(group))
      .find((existing) => existing && isPrefix(existing.path, entry.path)) ??
    (known.has(key)
      ? [...entries.values()].find((existing) => isPrefix(entry.path, existing.path))
      : undefined)
  if (clash)
    throw new ToolError(
      'CONFIG',
      `'${clash.path.join(' ')}' and '${entry.path.join(' ')}' cannot both be commands: one is a group of the other`,
    )
  for (const group of own) known.add(group)
  groups.set(entries, known)
}

function isPrefix(short: readonly string[], long: readonly string[]): boolean {
  return (
    short.length < long.length &&
    short.every((word, index) => lookupKey(word) === lookupKey(long[index]!))
  )
}

// A tool `pr_list` in the group `pr` is the command `pr list`, not `pr pr_list`.
function withoutPrefix(name: string, group: readonly string[]): string {
  const prefix = `${lookupKey(group.join('_'))}_`
  return group.length > 0 && lookupKey(name).startsWith(prefix) && name.length > prefix.length
    ? name.slice(prefix.length)
    : name
}

function notATool(value: unknown, place: string): ToolError {
  const what =
    typeof value === 'function'
      ? 'a plain function'
      : value === null
        ? 'null'
        : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
  return new ToolError(
    'CONFIG',
    `${place} holds ${what} where a tool is expected: wrap it with tool({ name, summary, run })`,
  )
}
