/**
 * What is served: a toolset as the protocol sees and lists it.
 */

import type { ServerCallOptions } from '../core/call.ts'
import { findReservedFields } from '../core/context.ts'
import type { Servable, ToolEntry } from '../core/provider.ts'
import type { LazySchema } from '../define/schema/source.ts'
import { resolveSchema } from '../define/schema/source.ts'
import type { ToolManifest, ToolMetadata } from '../protocol/manifest.ts'
import { toAnnotationHints } from '../protocol/manifest.ts'
import type { Outcome } from '../protocol/outcome.ts'
import type { JsonSchema } from '../util/values.ts'
import { compact, isObject } from '../util/values.ts'
import type { McpClient } from './protocol.ts'

/** A tool as the server sees it. */
export type ServedTool = {
  readonly name: string
  readonly facts: ToolMetadata
  readonly hasOutput: boolean
  manifest(): Promise<ToolManifest>
  /** The schemas as a JSON Schema author wrote them: they go to clients unchanged. */
  written(): { readonly input?: JsonSchema; readonly output?: JsonSchema }
}

/** What is served: a toolset or registry, and the tools of it that clients see. */
export type McpSource = {
  readonly set: Servable
  readonly description: string | undefined
  tools(): readonly ServedTool[]
  find(name: string): ServedTool | undefined
  /** The tool that a call means: one may lead to another. */
  resolveTarget(tool: ServedTool, input: unknown): ServedTool
  call(name: string, input: unknown, options: ServerCallOptions): Promise<Outcome>
  /** Documents about what is served. */
  readonly about: readonly AboutDocument[]
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
    set,
    description: set.options.description,
    tools: () => set.entries.map(serve),
    find(name) {
      const entry = set.find(name)
      return entry && serve(entry)
    },
    resolveTarget: (tool) => tool,
    call: set.call,
    about: listAboutDocuments(set),
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
    manifest: async () => (await definition.compiled()).manifest,
    written() {
      const { input, output } = definition.source
      return compact({ input: getPlainSchema(input), output: getPlainSchema(output) })
    },
  }
}

function getPlainSchema(source: LazySchema | undefined): JsonSchema | undefined {
  const schema: unknown = source && resolveSchema(source)
  return isObject(schema) && !('~standard' in schema) ? schema : undefined
}

/** The tools as they are listed, described once for each era until they change. */
export type ToolCatalogue = { list(era: McpClient['era']): Promise<readonly ListedMcpTool[]> }

export function createToolCatalogue(source: McpSource): ToolCatalogue {
  const lists = new Map<McpClient['era'], Promise<readonly ListedMcpTool[]>>()
  source.set.onChange(({ kind }) => {
    if (kind === 'tools') lists.clear()
  })
  return {
    list(era) {
      const known = lists.get(era)
      if (known) return known
      const list = Promise.all(source.tools().map((tool) => describeServedTool(tool, era)))
      lists.set(era, list)
      // A schema that cannot be read now may be readable for the next list.
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
  const { title, summary, description, annotations, mcp } = tool.facts
  const manifest = await tool.manifest()
  const written = tool.written()
  const input = written.input ?? manifest.inputSchema
  const output = written.output ?? manifest.outputSchema
  const canPlan = findReservedFields(input).dryRun !== undefined
  const hints = compact({ title, ...toAnnotationHints(annotations) })
  return compact({
    name: tool.name,
    title,
    description: description === undefined ? summary : `${summary}\n\n${description}`,
    // Clients look for `type: "object"`, which an author may have left out.
    inputSchema: input['type'] === 'object' ? input : { type: 'object', ...input },
    outputSchema: output && toOutputSchema(output, canPlan, era),
    annotations: Object.keys(hints).length > 0 ? hints : undefined,
    _meta: mcp?.meta,
  })
}

/** True when an older client gets the result inside `{result: …}`. */
export function isWrappedOutput(output: JsonSchema): boolean {
  return output['type'] !== 'object'
}

// What a tool gives when its input asks only for a plan.
const DRY_RUN_SCHEMA = {
  type: 'object',
  description: 'What a dry run gives',
  anyOf: [{ required: ['plan'] }, { required: ['would_execute'] }],
} as const

function toOutputSchema(
  output: JsonSchema,
  canPlan: boolean,
  era: McpClient['era'],
): object | undefined {
  const wrapped = era === 'legacy' && isWrappedOutput(output)
  if (!wrapped && !canPlan) return output
  const { $defs, $schema, ...result } = output
  // Moved one level down, a reference to anything but $defs would point at nothing.
  if (hasOutsideReference(result) || hasOutsideReference($defs)) return undefined
  const inner = canPlan ? { anyOf: [result, DRY_RUN_SCHEMA] } : result
  const type = isWrappedOutput(output) ? undefined : 'object'
  const outer = wrapped
    ? { type: 'object', properties: { result: inner }, required: ['result'] }
    : { type, ...inner }
  return compact({ $schema, ...outer, $defs })
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
