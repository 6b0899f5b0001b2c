import type { JsonSchema } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import type { ToolFacts, ToolManifest } from '../../contract/manifest.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Prompt, PromptText } from '../../define/prompt.ts'
import type { ListedResource, Resource } from '../../define/resource.ts'
import { resolveSchema } from '../../define/schema/source.ts'
import type { LazySchema } from '../../define/schema/schema.ts'
import type { ToolEntry } from '../../call/collect.ts'
import type { ServedCallOptions } from '../../call/options.ts'
import type { ToolsetChange } from '../../call/servable.ts'
import type { Servable } from '../../call/servable.ts'

/** A tool as the server sees it. */
export type ServedTool = {
  readonly name: string
  readonly facts: ToolFacts
  readonly hasOutput: boolean
  manifest(): ToolManifest | Promise<ToolManifest>
  /** The schemas as a JSON Schema author wrote them: they go to clients unchanged. */
  written(): { readonly input?: JsonSchema; readonly output?: JsonSchema }
}

/** What is served: a toolset today, something bigger tomorrow. The wire layer knows nothing else. */
export type McpSource = {
  readonly name: string
  readonly version: string
  readonly description: string | undefined
  tools(): readonly ServedTool[]
  find(name: string): ServedTool | undefined
  /** The tool that a call means: one may lead to another. */
  aim(tool: ServedTool, input: unknown): ServedTool
  call(name: string, input: unknown, options: ServedCallOptions): Promise<Outcome>
  resources(): readonly Resource[]
  prompts(): readonly Prompt[]
  readResource(uri: string, options: ServedCallOptions): Promise<Outcome>
  renderPrompt(
    name: string,
    args: unknown,
    options: ServedCallOptions,
  ): Promise<Outcome<PromptText>>
  /** Addresses that exist right now, of the resources that can tell. */
  listResources(options: ServedCallOptions): Promise<Outcome<readonly ListedResource[]>>
  /** Documents about what is served. */
  readonly about: readonly AboutDocument[]
  onChange(listener: (change: ToolsetChange) => void): () => void
}

/** A document about what is served, readable like a resource. */
export type AboutDocument = {
  readonly uri: string
  readonly name: string
  readonly summary: string
  readonly mimeType: string
  read(): Promise<string>
}

/** Serves a toolset. */
export function toolsetSource(set: Servable): McpSource {
  const served = new WeakMap<ToolEntry, ServedTool>()
  const serve = (entry: ToolEntry): ServedTool => {
    const known = served.get(entry)
    if (known) return known
    const tool = serveEntry(entry)
    served.set(entry, tool)
    return tool
  }
  return {
    name: set.name,
    version: set.version,
    description: set.options.description,
    tools: () => set.entries.map(serve),
    find(name) {
      const entry = set.find(name)
      return entry && serve(entry)
    },
    aim: (tool) => tool,
    call: set.call,
    resources: () => set.resources,
    prompts: () => set.prompts,
    readResource: set.readResource,
    renderPrompt: set.renderPrompt,
    listResources: set.listResources,
    about: aboutToolset(set),
    onChange: set.onChange,
  }
}

function aboutToolset(set: Servable): AboutDocument[] {
  return [
    {
      uri: 'skill://manifest',
      name: 'manifest',
      summary: 'What this server offers, as a manifest',
      mimeType: 'application/json',
      read: async () =>
        JSON.stringify(
          (await import('../json/manifest.ts')).toolsetManifestDocument(await set.manifest()),
        ),
    },
    {
      uri: 'skill://documentation',
      name: 'documentation',
      summary: 'How to use this server',
      mimeType: 'text/markdown',
      read: async () => (await import('../docs/generate.ts')).documentationText(set),
    },
  ]
}

/** Serves one tool. */
export function serveEntry({ name, definition }: ToolEntry): ServedTool {
  return {
    name,
    facts: definition.facts,
    hasOutput: definition.source.output !== undefined,
    manifest() {
      const compiled = definition.compiled()
      return compiled instanceof Promise
        ? compiled.then(({ manifest }) => manifest)
        : compiled.manifest
    },
    written() {
      const input = plainSchema(definition.source.input)
      const output =
        definition.source.output === undefined ? undefined : plainSchema(definition.source.output)
      return { ...(input && { input }), ...(output && { output }) }
    },
  }
}

function plainSchema(source: LazySchema): JsonSchema | undefined {
  const schema: unknown = resolveSchema(source)
  return isObject(schema) && !('~standard' in schema) ? schema : undefined
}
