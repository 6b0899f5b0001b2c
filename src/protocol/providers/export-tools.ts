/**
 * Tools in the request form of each model provider: OpenAI, Anthropic, Gemini, MCP.
 *
 * An input schema is read into a `SchemaShape` (schema-shape.ts), reduced to one object
 * (object-input.ts) and written by the rules of the provider (write-schema.ts). tool-calls.ts reads
 * the calls that come back; tool-messages.ts restores their arguments and renders their answers.
 */

import { ELLIPSIS } from '../../util/text.ts'
import type { JsonSchema } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { AnnotationHints, ToolManifest } from '../manifest.ts'
import { toAnnotationHints } from '../manifest.ts'
import { FIELD_NAME_RULES, toObjectShape } from './object-input.ts'
import type { SchemaShape } from './schema-shape.ts'
import { isOpenShape, readShape } from './schema-shape.ts'
import { writeGeminiSchema, writeJsonSchema, writeStrictSchema } from './write-schema.ts'

// Longer ones are refused with the whole request.
const MAX_OPENAI_DESCRIPTION_LENGTH = 1024

/**
 * Tools in the form that a provider's request takes. The schemas obey its rules and never allow
 * less than the tool does; what they cannot say, the call pipeline checks.
 */
export function toProvider<Name extends ProviderName>(
  provider: Name,
  tools: readonly ExportedTool[],
  options: ExportOptions = {},
): ProviderForms[Name] {
  return TOOL_WRITERS[provider](tools, options)
}

const TOOL_WRITERS: {
  readonly [Name in ProviderName]: (
    tools: readonly ExportedTool[],
    options: ExportOptions,
  ) => ProviderForms[Name]
} = {
  openai: (tools, options) =>
    tools.map((tool) => {
      const { strict, ...described } = describeOpenAiTool(tool, options)
      return { type: 'function', function: compact({ ...described, strict: strict || undefined }) }
    }),
  'openai-responses': (tools, options) =>
    tools.map((tool) => ({ type: 'function', ...describeOpenAiTool(tool, options) })),
  anthropic: (tools) =>
    tools.map((tool) => ({
      name: tool.name,
      description: describeTool(tool.manifest),
      input_schema: {
        ...writeJsonSchema(readInputShape(tool), FIELD_NAME_RULES.anthropic),
        type: 'object',
      },
    })),
  gemini: (tools, options) => ({
    functionDeclarations: tools.map((tool) => ({
      name: tool.name,
      description: describeTool(tool.manifest),
      ...writeGeminiParameters(readInputShape(tool), options),
    })),
  }),
  mcp: (tools) =>
    tools.map(({ name, manifest }) => {
      const { title, inputSchema, outputSchema } = manifest
      const annotations = compact({ title, ...toAnnotationHints(manifest.annotations) })
      return compact({
        name,
        title,
        description: describeTool(manifest),
        inputSchema: { ...inputSchema, type: 'object' },
        // Clients of all versions take only results that are objects.
        outputSchema:
          outputSchema?.['type'] === 'object'
            ? { ...outputSchema, type: 'object' as const }
            : undefined,
        annotations: Object.keys(annotations).length > 0 ? annotations : undefined,
      })
    }),
}

function readInputShape({ manifest }: ExportedTool): SchemaShape {
  return toObjectShape(readShape(manifest.inputSchema))
}

function describeOpenAiTool(
  tool: ExportedTool,
  { strict = false, onNote }: ExportOptions,
): Omit<OpenAiResponsesTool, 'type'> {
  const { name } = tool
  const description = describeTool(tool.manifest, MAX_OPENAI_DESCRIPTION_LENGTH)
  const shape = readInputShape(tool)
  if (strict) {
    const written = writeStrictSchema(shape)
    if ('schema' in written) return { name, description, parameters: written.schema, strict }
    const message = `'${name}' is exported without strict mode: ${written.problem}`
    onNote?.({ tool: name, message })
  }
  return { name, description, parameters: writeJsonSchema(shape), strict: false }
}

function writeGeminiParameters(
  shape: SchemaShape,
  { schema = 'openapi' }: ExportOptions,
): { readonly parameters?: JsonSchema; readonly parametersJsonSchema?: JsonSchema } {
  // A function without parameters has none: an empty object is refused, and an open one can only be
  // said in JSON Schema.
  if (shape.properties.size === 0)
    return isOpenShape(shape) && shape.additional !== undefined
      ? { parametersJsonSchema: writeJsonSchema(shape) }
      : {}
  return schema === 'json'
    ? { parametersJsonSchema: writeJsonSchema(shape, FIELD_NAME_RULES.gemini) }
    : { parameters: writeGeminiSchema(shape) }
}

/** The description of a tool for a model, cut where a provider takes no more. */
function describeTool(
  { summary, description }: Pick<ToolManifest, 'summary' | 'description'>,
  longest = Infinity,
): string {
  const text = joinDescription(summary, description)
  return text.length <= longest ? text : `${text.slice(0, longest - 1).trimEnd()}${ELLIPSIS}`
}

function joinDescription(summary: string, description: string | undefined): string {
  if (description === undefined) return summary
  // The summary of a foreign tool is often the beginning of its description.
  const isRepeated = description.trimStart().startsWith(summary.replace(/\.{3}$/, ''))
  return isRepeated ? description.trim() : `${summary}\n\n${description}`
}

/**
 * A tool and the name under which a model knows it; the name has to be valid for every provider
 * already.
 */
export type ExportedTool = {
  readonly name: string
  readonly manifest: Pick<
    ToolManifest,
    'title' | 'summary' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations'
  >
}

export type ExportOptions = {
  /**
   * OpenAI only: hold the model to the schema, for every tool whose schema allows it. Default
   * false.
   */
  readonly strict?: boolean
  /**
   * Gemini only: `openapi` (default) writes `parameters`, which all its endpoints read; `json`
   * writes `parametersJsonSchema`, which says more.
   */
  readonly schema?: 'openapi' | 'json'
  /** Told what could not be exported as asked. */
  readonly onNote?: (note: ExportNote) => void
}

export type ExportNote = { readonly tool: string; readonly message: string }

/** A tool for OpenAI's chat completions. */
export type OpenAiTool = {
  readonly type: 'function'
  readonly function: {
    readonly name: string
    readonly description: string
    readonly parameters: { [keyword: string]: unknown }
    readonly strict?: true
  }
}
/** A tool for OpenAI's responses; what does not say `strict` is strict there. */
export type OpenAiResponsesTool = {
  readonly type: 'function'
  readonly name: string
  readonly description: string
  readonly parameters: { [keyword: string]: unknown }
  readonly strict: boolean
}
export type AnthropicTool = {
  readonly name: string
  readonly description: string
  readonly input_schema: { readonly type: 'object'; readonly [keyword: string]: unknown }
}
/** All tools for Gemini, as one member of its list `tools`. */
export type GeminiTool = {
  readonly functionDeclarations: {
    readonly name: string
    readonly description: string
    readonly parameters?: object
    readonly parametersJsonSchema?: object
  }[]
}
/** A tool as the `tools/list` of MCP shows it. */
export type McpTool = {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: { readonly type: 'object'; readonly [keyword: string]: unknown }
  readonly outputSchema?: { readonly type: 'object'; readonly [keyword: string]: unknown }
  readonly annotations?: AnnotationHints & { readonly title?: string }
}

/** What each provider gets. */
export type ProviderForms = {
  readonly openai: OpenAiTool[]
  readonly 'openai-responses': OpenAiResponsesTool[]
  readonly anthropic: AnthropicTool[]
  readonly gemini: GeminiTool
  readonly mcp: McpTool[]
}
export type ProviderName = keyof ProviderForms
