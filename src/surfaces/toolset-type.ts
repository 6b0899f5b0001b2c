import type { CallEvent } from '../contract/events.ts'
import type { Permissions, ToolsetManifest, ToolsetOutline } from '../contract/manifest.ts'
import type { Outcome } from '../contract/outcome.ts'
import type { OutputMode } from '../define/flags/injected.ts'
import type { Prompt, PromptText } from '../define/prompt.ts'
import type { ListedResource, Resource } from '../define/resource.ts'
import type { ToolEntry, ToolTree } from '../call/collect.ts'
import type { CallOptions } from '../call/options.ts'
import type { AnyTool } from '../call/tool.ts'

export type OutputDefault = 'auto' | OutputMode

export type ToolsetOptions = {
  /** The program's name: 1 to 64 characters of `a-z 0-9 _ -`. */
  readonly name: string
  /** Default `0.1.0`. */
  readonly version?: string
  readonly description?: string
  readonly tools?: ToolTree
  readonly resources?: readonly Resource[]
  readonly prompts?: readonly Prompt[]
  /** What `--output auto` means; default `auto`: text on a terminal, JSON in a pipe. */
  readonly defaultOutput?: OutputDefault
  /** What `mcp serve` does without --transport; default `stdio`. */
  readonly mcpTransport?: 'stdio' | 'http'
  readonly permissions?: Permissions
  /** `mcp add` installs the skill about the program too; default false. */
  readonly skillAutoGenerate?: boolean
}

/** What became different in a toolset: a list of things, or the contents of one resource. */
export type ToolsetChange = { readonly kind: 'tools' | 'resources' | 'prompts' } | { readonly kind: 'resource'; readonly uri: string }
export type ChangeListener = (change: ToolsetChange) => void

/** Tools, resources and prompts under one name: a program, and a unit for every other surface. */
export type Toolset = {
  readonly name: string
  readonly version: string
  readonly options: ToolsetOptions
  readonly entries: readonly ToolEntry[]
  readonly resources: readonly Resource[]
  readonly prompts: readonly Prompt[]
  /** Adds a tool, under another name if one is given. */
  add(tool: AnyTool, name?: string): Toolset
  addResource(resource: Resource): Toolset
  addPrompt(prompt: Prompt): Toolset
  /** Takes a tool out, by any spelling that finds it; calls that run go on. False when there is none. */
  remove(name: string): boolean
  /** Takes out the resource of an address pattern. */
  removeResource(uri: string): boolean
  removePrompt(name: string): boolean
  /** Tells of every thing that is added or removed, and of `resourceChanged`, at once; gives a function that stops it. */
  onChange(listener: ChangeListener): () => void
  /** Says that what stands at an address is different now, for those who subscribed to it. */
  resourceChanged(uri: string): void
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
  /** The addresses that can be read right now: those without placeholders, and what `list` of the others names. */
  listResources(options?: CallOptions): Promise<Outcome<readonly ListedResource[]>>
  readResource(uri: string, options?: CallOptions): Promise<Outcome>
  renderPrompt(name: string, args?: unknown, options?: CallOptions): Promise<Outcome<PromptText>>
  /** Runs the command line and ends the process. With `import.meta`: only when that file is the program's entry point. */
  run(entry?: ImportMeta): Promise<void>
}
