/**
 * The public types of a registry, and how an entry is listed and described.
 */

import type { CallOptions } from '../core/call.ts'
import type { Servable } from '../core/provider.ts'
import type { Guard } from '../protocol/context.ts'
import type { Answerer, Sampler } from '../protocol/events.ts'
import type { ToolManifest } from '../protocol/manifest.ts'
import type {
  AnthropicTool,
  ExportOptions,
  GeminiTool,
  McpTool,
  OpenAiResponsesTool,
  OpenAiTool,
} from '../protocol/providers/export-tools.ts'
import type { ToolMessage } from '../protocol/providers/tool-messages.ts'
import type { State } from '../protocol/state.ts'
import type { JsonSchema } from '../util/values.ts'
import { compact } from '../util/values.ts'
import type { EntryParts, RegistryEntry } from './catalog.ts'
import type { FilterInput } from './filter.ts'
import { getNotes } from './names.ts'
import type { SourceOptions } from './source-table.ts'
import type { Problem, Tier, ToolSource } from './source.ts'

/** Where tools come from, and how they are run. */
export type SourceRegistryOptions = RegistrySettings & SourceOptions

/** The options of a registry that name no source. */
export type RegistrySettings = {
  /** What a server of the whole registry is called; default `toolable`. */
  readonly name?: string
  readonly version?: string
  readonly description?: string
  /** Answers questions of tools when a call has no answerer. */
  readonly answer?: Answerer
  /** Completes prompts of tools when a call has no sampler. */
  readonly sample?: Sampler
  /**
   * Decide about every call of its tools, on every transport, before the guards of a toolset and
   * of the caller. They know the tools by their names in the registry.
   */
  readonly guards?: readonly Guard[]
  /**
   * The state of calls that bring none; default: that of the tool's toolset, else each call has
   * its own.
   */
  readonly state?: State
  /** Fail if two tools have one name or a source has a problem; default false. */
  readonly strict?: boolean
  /** The folder of relative paths; default: the directory of the process. */
  readonly cwd?: string
  /** The environment of the host; default: that of the process. */
  readonly env?: { readonly [name: string]: string | undefined }
  /**
   * Remember what was found; default true, in the cache folder of the platform. A text names the
   * folder.
   */
  readonly cache?: boolean | string
  readonly probe?: {
    /** Ask unknown scripts what they are even where no sandbox can hold them; default false. */
    readonly unsandboxed?: boolean
    /** Default: one for each core. */
    readonly concurrency?: number
  }
}

/**
 * What a layer above adds: sources that are made of other tools, and the names of their options.
 */
export type ExtraSources = {
  readonly options: readonly string[]
  /** `opened` returns the registry once it is open. */
  make(opened: () => Registry): readonly ToolSource[]
  /**
   * Milliseconds after which a registry opens without the sources that have not answered; they are
   * added when they do, with a change event. Default: it waits for all.
   */
  readonly loadTimeoutMs?: number | undefined
}

/** A tool as `list` shows it. */
export type ListedTool = {
  /** `<source>.<tool>`: always this very tool. */
  readonly id: string
  /** The name under which it is served and exported. */
  readonly name: string
  readonly summary: string
  readonly source: string
  readonly kind: string
  readonly tier: Tier
  readonly location?: string
  readonly tags: readonly string[]
  /** The name its owner gave it, if that is not valid on every transport. */
  readonly original_name?: string
  /** The id of the tool that has the bare name. */
  readonly shadowed_by?: string
}

/** Everything about one tool. */
export type ToolDescription = ListedTool & {
  readonly manifest: ToolManifest
  /** What of its owner's description could not be taken as it is. */
  readonly notes?: readonly string[]
}

/** How a source is doing. */
export type SourceState = {
  readonly name: string
  readonly kind: string
  readonly location: string
  readonly tools: number
  readonly problems: number
  /** It has not answered yet. */
  readonly loading?: true
}

type FilteredExport = { readonly filter?: FilterInput }
type OpenAiExport = FilteredExport & Pick<ExportOptions, 'strict' | 'onNote'>

/** The tools of all sources. It can be served like a toolset. */
export type Registry = Servable & {
  list(filter?: FilterInput): readonly ListedTool[]
  /** Throws NOT_FOUND for an unknown name. */
  describe(name: string): Promise<ToolDescription>
  schema(name: string): Promise<{ readonly input: JsonSchema; readonly output?: JsonSchema }>
  /** What is no tool, and why; what is shadowed, and by which tool. */
  problems(): readonly Problem[]
  sources(): readonly SourceState[]
  /** Loads all sources again; only what changed, unless `fresh`. */
  rescan(options?: { readonly fresh?: boolean }): Promise<Registry>
  toOpenAI(options?: OpenAiExport & { readonly api?: 'chat' }): Promise<OpenAiTool[]>
  toOpenAI(options: OpenAiExport & { readonly api: 'responses' }): Promise<OpenAiResponsesTool[]>
  toAnthropic(options?: FilteredExport): Promise<AnthropicTool[]>
  toGemini(options?: FilteredExport & Pick<ExportOptions, 'schema'>): Promise<GeminiTool>
  toMcp(options?: FilteredExport): Promise<McpTool[]>
  /**
   * Runs the tool calls of a model, in the form of any provider, and returns the messages that
   * answer them. Never throws.
   */
  handleToolCall(
    call: unknown,
    options?: CallOptions,
  ): Promise<ToolMessage | readonly ToolMessage[]>
  /** Closes connections and warm programs. */
  close(): Promise<void>
}

/** Summarises a tool for a list. */
export function listEntry({ id, name, found, shadowedBy }: EntryParts): ListedTool {
  const { summary, source, kind, tier, location, tags } = found
  const isTheirName = found.name === id.slice(id.indexOf('.') + 1)
  return compact({
    id,
    name,
    summary,
    source,
    kind,
    tier,
    location,
    tags,
    original_name: !isTheirName ? found.name : undefined,
    shadowed_by: shadowedBy,
  })
}

/** Describes a tool completely. Throws CONFIG when its schemas cannot be used. */
export async function describeEntry(entry: RegistryEntry): Promise<ToolDescription> {
  const notes = getNotes(entry.definition)
  return {
    ...listEntry(entry),
    manifest: (await entry.definition.compiled()).manifest,
    ...compact({ notes: notes.length > 0 ? notes : undefined }),
  }
}
