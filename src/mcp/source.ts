/**
 * What is served: a toolset as the protocol sees and lists it.
 */

import type { ServerCallOptions } from '../core/call.ts'
import { findReservedFields } from '../core/context.ts'
import type { Servable, ToolEntry, ToolsetChange } from '../core/tool.ts'
import type { Prompt, PromptText } from '../define/prompt.ts'
import type { ListedResource, Resource } from '../define/resource.ts'
import { resolveSchema } from '../define/schema/source.ts'
import type { LazySchema } from '../define/schema/source.ts'
import type { ToolManifest, ToolMetadata } from '../protocol/manifest.ts'
import type { Outcome } from '../protocol/outcome.ts'
import { compact, isObject } from '../util/values.ts'
import type { JsonSchema } from '../util/values.ts'
import type { McpClient } from './protocol.ts'

/** A tool as the server sees it. */
export type ServedTool = {
  readonly name: string
  readonly facts: ToolMetadata
  readonly hasOutput: boolean
  manifest(): ToolManifest | Promise<ToolManifest>
  /** The schemas as a JSON Schema author wrote them: they go to clients unchanged. */
  written(): { readonly input?: JsonSchema; readonly output?: JsonSchema }
}

/**
 * What is served: a toolset today, something bigger tomorrow. The wire layer knows nothing else.
 */
export type McpSource = {
  readonly name: string
  readonly version: string
  readonly description: string | undefined
  tools(): readonly ServedTool[]
  find(name: string): ServedTool | undefined
  /** The tool that a call means: one may lead to another. */
  resolveTarget(tool: ServedTool, input: unknown): ServedTool
  call(name: string, input: unknown, options: ServerCallOptions): Promise<Outcome>
  resources(): readonly Resource[]
  prompts(): readonly Prompt[]
  readResource(uri: string, options: ServerCallOptions): Promise<Outcome>
  renderPrompt(
    name: string,
    args: unknown,
    options: ServerCallOptions,
  ): Promise<Outcome<PromptText>>
  /** Addresses that exist right now, of the resources that can tell. */
  listResources(options: ServerCallOptions): Promise<Outcome<readonly ListedResource[]>>
  /** Documents about what is served. */
  readonly about: readonly AboutDocument[]
  onChange(listener: (change: ToolsetChange) => void): () => void
}

/** A document about what is served, readable like a resource. */
type AboutDocument = {
  readonly uri: string
  readonly name: string
  readonly summary: string
  readonly mimeType: string
  read(): Promise<string>
}

/** Serves a toolset. */
export function createToolsetSource(set: Servable): McpSource {
  const served = new WeakMap<ToolEntry, ServedTool>()
  const serve = (entry: ToolEntry): ServedTool => {
    const known = served.get(entry)
    if (known) return known
    const tool = toServedTool(entry)
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
    resolveTarget: (tool) => tool,
    call: set.call,
    resources: () => set.resources,
    prompts: () => set.prompts,
    readResource: set.readResource,
    renderPrompt: set.renderPrompt,
    listResources: set.listResources,
    about: listAboutDocuments(set),
    onChange: set.onChange,
  }
}

function listAboutDocuments(set: Servable): AboutDocument[] {
  return [
    {
      uri: 'skill://manifest',
      name: 'manifest',
      summary: 'What this server offers, as a manifest',
      mimeType: 'application/json',
      read: async () =>
        JSON.stringify(
          (await import('../cli/tool-documents.ts')).buildToolsetManifestDocument(
            await set.manifest(),
          ),
        ),
    },
    {
      uri: 'skill://documentation',
      name: 'documentation',
      summary: 'How to use this server',
      mimeType: 'text/markdown',
      read: async () => (await import('../docs/generate.ts')).generateReferenceText(set),
    },
  ]
}

/** Serves one tool. */
export function toServedTool({ name, definition }: ToolEntry): ServedTool {
  return {
    name,
    facts: definition.metadata,
    hasOutput: definition.source.output !== undefined,
    manifest() {
      const compiled = definition.compiled()
      return compiled instanceof Promise
        ? compiled.then(({ manifest }) => manifest)
        : compiled.manifest
    },
    written() {
      const input = getPlainSchema(definition.source.input)
      const output =
        definition.source.output === undefined
          ? undefined
          : getPlainSchema(definition.source.output)
      return compact({ input, output })
    },
  }
}

function getPlainSchema(source: LazySchema): JsonSchema | undefined {
  const schema: unknown = resolveSchema(source)
  return isObject(schema) && !('~standard' in schema) ? schema : undefined
}

/** The tools as they are listed, described once for each era until they change. */
export type ToolCatalogue = { list(era: McpClient['era']): Promise<readonly ListedMcpTool[]> }

export function createToolCatalogue(source: McpSource): ToolCatalogue {
  const lists = new Map<McpClient['era'], Promise<readonly ListedMcpTool[]>>()
  source.onChange(({ kind }) => {
    if (kind === 'tools') lists.clear()
  })
  return {
    list(era) {
      const known = lists.get(era)
      if (known) return known
      const list = Promise.all(source.tools().map((tool) => describeServedTool(tool, era)))
      lists.set(era, list)
      // A schema that cannot be read now may be mended by the next list.
      list.catch(() => lists.delete(era))
      return list
    },
  }
}

/** A tool as `tools/list` shows it. */
type ListedMcpTool = {
  readonly name: string
  readonly inputSchema: object
  readonly outputSchema?: object
  readonly [field: string]: unknown
}

/** Describes a tool to clients of an era: older ones can only take results that are objects. */
async function describeServedTool(tool: ServedTool, era: McpClient['era']): Promise<ListedMcpTool> {
  const { facts } = tool
  const manifest = await tool.manifest()
  const written = tool.written()
  const input = written.input ?? manifest.inputSchema
  const outputSchema = toOutputSchema(
    written.output ?? manifest.outputSchema,
    findReservedFields(input).dryRun !== undefined,
    era,
  )
  const annotations = toListedAnnotations(facts)
  return compact({
    name: tool.name,
    title: facts.title,
    description:
      facts.description === undefined ? facts.summary : `${facts.summary}\n\n${facts.description}`,
    inputSchema: toObjectInput(input),
    outputSchema,
    annotations,
    _meta: facts.mcp?.meta ? facts.mcp.meta : undefined,
  })
}

/** True when an older client gets the result inside `{result: …}`. */
export function isWrappedOutput(output: JsonSchema): boolean {
  return output['type'] !== 'object'
}

// Clients look for `type: "object"`, which an author may have left out.
function toObjectInput(schema: JsonSchema): object {
  return schema['type'] === 'object' ? schema : { type: 'object', ...schema }
}

// What a tool gives when its input asks only for a plan.
const DRY_RUN_SCHEMA = {
  type: 'object',
  description: 'What a dry run gives',
  anyOf: [{ required: ['plan'] }, { required: ['would_execute'] }],
} as const

function toOutputSchema(
  output: JsonSchema | undefined,
  canPlan: boolean,
  era: McpClient['era'],
): object | undefined {
  if (!output) return undefined
  const wrapped = era === 'legacy' && isWrappedOutput(output)
  if (!wrapped && !canPlan) return output
  const { $defs, $schema, ...result } = output
  // Moved one level down, a reference to anything but $defs would point at nothing.
  if (hasOutsideReference(result) || hasOutsideReference($defs)) return undefined
  const inner = canPlan ? { anyOf: [result, DRY_RUN_SCHEMA] } : result
  const outer = wrapped
    ? { type: 'object', properties: { result: inner }, required: ['result'] }
    : { ...compact({ type: !isWrappedOutput(output) ? 'object' : undefined }), ...inner }
  return { ...compact({ $schema }), ...outer, ...compact({ $defs }) }
}

function hasOutsideReference(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasOutsideReference)
  if (!isObject(value)) return false
  return Object.entries(value).some(([key, inner]) =>
    ['$ref', '$dynamicRef', '$id', '$anchor', '$dynamicAnchor'].includes(key) &&
    typeof inner === 'string'
      ? !inner.startsWith('#/$defs/')
      : hasOutsideReference(inner),
  )
}

function toListedAnnotations({ annotations, title }: ToolMetadata): object | undefined {
  const { readOnly, destructive, idempotent, openWorld } = annotations
  const hints = compact({
    title,
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    idempotentHint: idempotent,
    openWorldHint: openWorld,
  })
  return Object.keys(hints).length === 0 ? undefined : hints
}
