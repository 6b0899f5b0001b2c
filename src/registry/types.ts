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
  /** Answers the questions of tools where a call brings nobody who does. */
  readonly answer?: Answerer
  /** Completes the prompts of tools where a call brings nobody who does. */
  readonly sample?: Sampler
  /**
   * Decide about every call of its tools, on every surface, before those of a toolset in it and of
   * the caller. They know the tools by their names in the registry.
   */
  readonly guards?: readonly Guard[]
  /**
   * Where calls work that bring no state of their own; default: that of the toolset that a tool is
   * from, else each call has one for itself.
   */
  readonly state?: State
  /**
   * Refuse what is doubtful: two tools of one name, and any source with a problem; default false.
   */
  readonly strict?: boolean
  /** What relative paths mean; default: the directory of the process. */
  readonly cwd?: string
  /** The environment of the host; default: that of the process. */
  readonly env?: { readonly [name: string]: string | undefined }
  /**
   * Remember what was found; default true, in the cache folder of the platform. A text names the
   * folder.
   */
  readonly cache?: boolean | string
  readonly probe?: {
    /** Ask unknown scripts what they are even where no sandbox can hold them; default false. */ readonly unsandboxed?: boolean
    /** Default: one for each core. */ readonly concurrency?: number
  }
}

/**
 * What a layer above adds: sources that are made of other tools, and what their options are called.
 */
export type ExtraSources = {
  readonly options: readonly string[]
  /** `opened` gives the registry once it is there. */
  make(opened: () => Registry): readonly ToolSource[]
  /**
   * Milliseconds after which a registry does without sources that have not answered; they come when
   * they do, and `onChange` tells. Default: as long as it takes.
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
  /** What its owner calls it, where that is not a name that every surface can carry. */
  readonly original_name?: string
  /** The id of the tool that the bare name means. */
  readonly shadowed_by?: string
}

/** Everything about one tool. */
export type ToolDescription = ListedTool & {
  readonly manifest: ToolManifest
  /** What of its owner's description could not be taken as it is. */ readonly notes?: readonly string[]
}

/** How a source is doing. */
export type SourceState = {
  readonly name: string
  readonly kind: string
  readonly location: string
  readonly tools: number
  readonly problems: number
  /** It has not answered yet. */ readonly loading?: true
}

/** Tools from anywhere behind one door. It can be served like a toolset. */
export type Registry = Servable & {
  list(filter?: FilterInput): readonly ListedTool[]
  /** Throws NOT_FOUND for an unknown name. */
  describe(name: string): Promise<ToolDescription>
  schema(name: string): Promise<{ readonly input: JsonSchema; readonly output?: JsonSchema }>
  /** What is not a tool, and why; what is shadowed, and by what. */
  problems(): readonly Problem[]
  sources(): readonly SourceState[]
  /** Looks again; asks only what changed, unless `fresh`. */
  rescan(options?: { readonly fresh?: boolean }): Promise<Registry>
  toOpenAI(
    options?: Pick<ExportOptions, 'strict' | 'onNote'> & {
      readonly api?: 'chat'
      readonly filter?: FilterInput
    },
  ): Promise<OpenAiTool[]>
  toOpenAI(
    options: Pick<ExportOptions, 'strict' | 'onNote'> & {
      readonly api: 'responses'
      readonly filter?: FilterInput
    },
  ): Promise<OpenAiResponsesTool[]>
  toAnthropic(options?: { readonly filter?: FilterInput }): Promise<AnthropicTool[]>
  toGemini(
    options?: Pick<ExportOptions, 'schema'> & { readonly filter?: FilterInput },
  ): Promise<GeminiTool>
  toMcp(options?: { readonly filter?: FilterInput }): Promise<McpTool[]>
  /**
   * Runs what a model asked for, in the form of any provider, and gives the message that answers
   * it; several calls give several messages. Never throws.
   */
  handleToolCall(
    call: unknown,
    options?: CallOptions,
  ): Promise<ToolMessage | readonly ToolMessage[]>
  /** Ends connections and warm programs. */
  close(): Promise<void>
}

/** A tool in short. */
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

/**
 * A tool with everything that is known about it. Throws CONFIG where its schemas cannot be used.
 */
export async function describeEntry(entry: RegistryEntry): Promise<ToolDescription> {
  const notes = getNotes(entry.definition)
  return {
    ...listEntry(entry),
    manifest: (await entry.definition.compiled()).manifest,
    ...compact({ notes: notes.length > 0 ? notes : undefined }),
  }
}
