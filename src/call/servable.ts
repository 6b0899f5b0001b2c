import type { CallEvent } from '../contract/events.ts'
import type { Permissions, ToolsetManifest, ToolsetOutline } from '../contract/manifest.ts'
import type { Outcome } from '../contract/outcome.ts'
import type { OutputMode } from '../define/flags/injected.ts'
import type { Prompt, PromptText } from '../define/prompt.ts'
import type { ListedResource, Resource } from '../define/resource.ts'
import type { ToolEntry } from './collect.ts'
import type { CallOptions } from './options.ts'

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
  /** Loads what the definitions of the entries need; whoever looks at one waits for it first. Absent where nothing is late. */
  prepare?(): Promise<void>
  readonly resources: readonly Resource[]
  readonly prompts: readonly Prompt[]
  /** Tells of every thing that is added or removed, and of resources that changed, at once; gives a function that stops it. */
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
  /** The addresses that can be read right now: those without placeholders, and what `list` of the others names. */
  listResources(options?: CallOptions): Promise<Outcome<readonly ListedResource[]>>
  readResource(uri: string, options?: CallOptions): Promise<Outcome>
  renderPrompt(name: string, args?: unknown, options?: CallOptions): Promise<Outcome<PromptText>>
}
