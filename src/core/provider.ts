/**
 * Sets of tools: the names tools get in a toolset, and what transports see of a toolset or registry
 * (`Servable`).
 */

import type { OutputMode } from '../cli/formats/table.ts'
import { checkName } from '../define/checks.ts'
import type { Prompt, PromptText } from '../define/prompt.ts'
import type { ListedResource, Resource } from '../define/resource.ts'
import type { ToolDefinition } from '../define/tool-types.ts'
import type { CallEvent } from '../protocol/events.ts'
import type {
  Permissions,
  ToolManifest,
  ToolsetManifest,
  ToolsetOutline,
} from '../protocol/manifest.ts'
import type { Outcome } from '../protocol/outcome.ts'
import { createFailureOutcome, ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'
import type { CallIdentity, CallOptions, CallResult } from './call.ts'
import { toLookupKey } from './call.ts'

import type { AnyTool } from './tool.ts'
import {
  createLazyStream,
  getDefinition,
  getOutcome,
  invokeTool,
  isTool,
  loadEngine,
} from './tool.ts'

/**
 * Tools as an author groups them: a list, or a record whose keys name groups (lists, records) or
 * tools.
 */
export type ToolTree = readonly AnyTool[] | { readonly [name: string]: AnyTool | ToolTree }

/**
 * One tool of a toolset. Its path is its command (`pr list`), its name the same in one word
 * (`pr_list`).
 */
export type ToolEntry = {
  readonly name: string
  readonly path: readonly string[]
  readonly definition: ToolDefinition
  /** Whose tool it is, where that is not the toolset that it was found in. */
  readonly identity?: CallIdentity
}

/** Flattens a tree of tools, naming each by its groups. */
export function collectTools(tree: ToolTree, group: readonly string[] = []): ToolEntry[] {
  if (Array.isArray(tree))
    return (tree as readonly AnyTool[]).map((tool) => createEntry(tool, group))
  return Object.entries(tree as { readonly [name: string]: AnyTool | ToolTree }).flatMap(
    ([name, value]) => {
      if (isTool(value)) return [createEntry(value, group, name)]
      if (typeof value !== 'object' || value === null)
        throw createNotAToolError(value, [...group, name].join('.'))
      checkName('group', name)
      return collectTools(value, [...group, name])
    },
  )
}

/** One tool under an optional new name and group. */
export function createEntry(
  tool: AnyTool,
  group: readonly string[] = [],
  name?: string,
): ToolEntry {
  if (!isTool(tool)) throw createNotAToolError(tool, group.join('.') || 'tools')
  const own = name ?? stripGroupPrefix(tool.name, group)
  const words = group.length === 0 ? [own] : [...group, own]
  const full = words.join('_')
  checkName('tool', full)
  return new LazyToolEntry(
    full,
    words.map((word) => word.replaceAll('_', '-')),
    tool,
  )
}

// The definition is created on first use.
class LazyToolEntry implements ToolEntry {
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
    const own = getDefinition(this.#tool)
    return (this.#definition = own.name === this.name ? own : own.withName(this.name))
  }
}

/** Finds tools by name; '-' and '_' are equal. */
export function createEntryFinder(
  entries: ReadonlyMap<string, ToolEntry>,
): (name: string) => ToolEntry | undefined {
  // Most callers give a name in the form of its key.
  return (name) => entries.get(name) ?? entries.get(toLookupKey(name))
}

/** Refuses a second tool of the same name, and a command that is also a group. */
export function addEntry(entries: Map<string, ToolEntry>, entry: ToolEntry): void {
  const key = toLookupKey(entry.name)
  const other = entries.get(key)
  if (other)
    throw new ToolError(
      'CONFIG',
      `two tools are called '${other.name}'${other.name === entry.name ? '' : ` ('${entry.name}' is the same name)`}: rename one, for example with add(tool, 'other_name')`,
    )
  rejectGroupClash(entries, key, entry)
  entries.set(key, entry)
}

// The groups that entries were ever in, so that two hundred tools are not compared with each other.
// A removed tool leaves its groups behind; they only cause another look.
const groupsByEntries = new WeakMap<object, Set<string>>()

function rejectGroupClash(entries: Map<string, ToolEntry>, key: string, entry: ToolEntry): void {
  const known = groupsByEntries.get(entries) ?? new Set<string>()
  if (known.size === 0 && entry.path.length === 1) return
  const own = entry.path
    .slice(1)
    .map((_word, index) => toLookupKey(entry.path.slice(0, index + 1).join('_')))
  const clash =
    own
      .map((group) => entries.get(group))
      .find((existing) => existing && isPathPrefix(existing.path, entry.path)) ??
    (known.has(key)
      ? [...entries.values()].find((existing) => isPathPrefix(entry.path, existing.path))
      : undefined)
  if (clash)
    throw new ToolError(
      'CONFIG',
      `'${clash.path.join(' ')}' and '${entry.path.join(' ')}' cannot both be commands: one is a group of the other`,
    )
  for (const group of own) known.add(group)
  groupsByEntries.set(entries, known)
}

function isPathPrefix(short: readonly string[], long: readonly string[]): boolean {
  return (
    short.length < long.length &&
    short.every((word, index) => toLookupKey(word) === toLookupKey(long[index]!))
  )
}

// A tool `pr_list` in the group `pr` is the command `pr list`, not `pr pr_list`.
function stripGroupPrefix(name: string, group: readonly string[]): string {
  if (group.length === 0) return name
  const prefix = `${toLookupKey(group.join('_'))}_`
  return toLookupKey(name).startsWith(prefix) && name.length > prefix.length
    ? name.slice(prefix.length)
    : name
}

function createNotAToolError(value: unknown, place: string): ToolError {
  return new ToolError(
    'CONFIG',
    `${place} holds ${describeKind(value)} where a tool is expected: wrap it with tool({ name, summary, run })`,
  )
}

function describeKind(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'function') return 'a plain function'
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
}

export type OutputDefault = 'auto' | OutputMode

/** What became different in a set of tools: a list of things, or the contents of one resource. */
export type ToolsetChange =
  | { readonly kind: 'tools' | 'resources' | 'prompts' }
  | { readonly kind: 'resource'; readonly uri: string }
export type ChangeListener = (change: ToolsetChange) => void

/** Tools, resources and prompts as the surfaces see them: a toolset, or a registry of many. */
export type Servable = {
  readonly name: string
  /** What is typed to start it, ready for a shell; default: its name. */
  readonly command?: string
  readonly version: string
  readonly options: {
    readonly description?: string
    /** What `--output auto` means; default `auto`: text on a terminal, JSON in a pipe. */
    readonly defaultOutput?: OutputDefault
    /** What `mcp serve` does without --transport; default `stdio`. */
    readonly mcpTransport?: 'stdio' | 'http'
    readonly permissions?: Permissions
    /** `mcp add` installs the skill about the program too; default false. */
    readonly skillAutoGenerate?: boolean
  }
  readonly entries: readonly ToolEntry[]
  /**
   * Loads what the definitions of the entries need; readers of a definition await it first. Absent
   * where nothing is loaded late.
   */
  prepare?(): Promise<void>
  readonly resources: readonly Resource[]
  readonly prompts: readonly Prompt[]
  /**
   * Calls the listener synchronously for everything that is added or removed and for resources
   * that changed; returns a stop function.
   */
  onChange(listener: ChangeListener): () => void
  /** The tool of a name; '-' and '_' are equal. */
  find(name: string): ToolEntry | undefined
  manifest(): Promise<ToolsetManifest>
  /** The same with schemas as their authors wrote them where that is enough: for help. */
  sketch(): Promise<ToolsetManifest>
  /** The same without schemas, which costs next to nothing. */
  outline(): Promise<ToolsetOutline>
  /** Calls a tool by name; an unknown name is a failed outcome. */
  call(name: string, input?: unknown, options?: CallOptions): Promise<Outcome>
  stream(name: string, input?: unknown, options?: CallOptions): AsyncIterable<CallEvent>
  /**
   * The addresses that can be read right now: those without placeholders, and what `list` of the
   * others names.
   */
  listResources(options?: CallOptions): Promise<Outcome<readonly ListedResource[]>>
  readResource(uri: string, options?: CallOptions): Promise<Outcome>
  renderPrompt(name: string, args?: unknown, options?: CallOptions): Promise<Outcome<PromptText>>
}

/** What stands behind something that can be served: it may change, so it is asked each time. */
type ProviderSource = {
  readonly name: string
  readonly version: string
  readonly options: Servable['options']
  entries(): Iterable<ToolEntry> | Promise<Iterable<ToolEntry>>
  find(name: string): ToolEntry | undefined
  /** The error for a name that `find` does not know. */
  createUnknownToolError(name: string): ToolError
  /** Loads what definitions need; undefined where nothing is left to load. */
  prepare?(): Promise<void> | undefined
  resources(): readonly Resource[]
  prompts(): readonly Prompt[]
  /** What goes with every reading, where the caller does not say otherwise. */
  withDefaults?(options: CallOptions | undefined): CallOptions | undefined
}

/** Describing and calling what is served: the same for a toolset and a registry. */
export function createProviderMethods({
  name,
  version,
  options,
  entries,
  find,
  createUnknownToolError,
  prepare,
  resources,
  prompts,
  withDefaults = (given) => given,
}: ProviderSource): Pick<
  Servable,
  | 'find'
  | 'call'
  | 'stream'
  | 'manifest'
  | 'sketch'
  | 'outline'
  | 'listResources'
  | 'readResource'
  | 'renderPrompt'
> {
  const identity = { toolset: name, version }
  const start = (wanted: string, input: unknown, given?: CallOptions): Promise<CallResult> => {
    const entry = typeof wanted === 'string' ? find(wanted) : undefined
    if (!entry) {
      const error = createUnknownToolError(String(wanted))
      const tool = `${name}.${String(wanted).slice(0, 64)}`
      const outcome = createFailureOutcome(error.toObject(), tool, version)
      return Promise.resolve({ outcome, error })
    }
    const run = (): Promise<CallResult> =>
      invokeTool(entry.definition, input, withDefaults(given), entry.identity ?? identity)
    const preparing = prepare?.()
    return preparing ? preparing.then(run) : run()
  }
  const outline: Servable['outline'] = async () =>
    compact({
      name,
      version,
      description: options.description,
      permissions: options.permissions,
      tools: Array.from(await entries(), ({ definition }) => definition.metadata),
      resources: resources().map(({ manifest }) => manifest),
      prompts: await Promise.all(prompts().map((prompt) => prompt.manifest())),
    })
  const describe = async (read: (entry: ToolEntry) => ToolManifest | Promise<ToolManifest>) => ({
    ...(await outline()),
    tools: await Promise.all(
      Array.from(await entries(), async (entry) => addPath(await read(entry), entry.path)),
    ),
  })
  return {
    find,
    call: (wanted, input, given) => start(wanted, input, given).then(getOutcome),
    stream: (wanted, input, given) =>
      createLazyStream(async () =>
        (await loadEngine()).streamCall(
          (streaming) => start(wanted, input, streaming),
          withDefaults(given),
        ),
      ),
    outline,
    manifest: () => describe(async ({ definition }) => (await definition.compiled()).manifest),
    sketch: () =>
      describe(
        async ({ definition }) =>
          definition.previewManifest() ?? (await definition.compiled()).manifest,
      ),
    listResources: async (given) =>
      (await loadEngine()).listResources(resources(), withDefaults(given), identity),
    readResource: async (uri, given) =>
      (await loadEngine()).readResource(resources(), uri, withDefaults(given), identity),
    renderPrompt: async (wanted, args, given) =>
      (await loadEngine()).renderPrompt(prompts(), wanted, args, withDefaults(given), identity),
  }
}

// Schemas stay getters: help for two hundred tools publishes none of them.
function addPath(
  manifest: ToolManifest,
  path: readonly string[],
): ToolManifest & { readonly path: readonly string[] } {
  return Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(manifest), path: { value: path, enumerable: true } },
  ) as ToolManifest & { readonly path: readonly string[] }
}

/** The listeners for changes, in the order they were added. */
type ChangeNotifier = {
  listen(listener: ChangeListener): () => void
  announce(change: ToolsetChange): void
}

export function createChangeNotifier(): ChangeNotifier {
  const listeners = new Set<{ readonly hear: ChangeListener }>()
  return {
    listen(listener) {
      // Wrapped, so that a function added twice is called twice and removed once at a time.
      const entry = { hear: listener }
      listeners.add(entry)
      return () => void listeners.delete(entry)
    },
    announce(change) {
      for (const { hear } of [...listeners]) {
        try {
          hear(change)
        } catch {
          /* a listener that throws must not stop the others */
        }
      }
    },
  }
}
