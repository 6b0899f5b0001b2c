import type { ToolManifest } from '../manifest.ts'

/** A tool and the name under which a model knows it; the name has to be valid for every provider already. */
export type ExportedTool = {
  readonly name: string
  readonly manifest: Pick<
    ToolManifest,
    'title' | 'summary' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations'
  >
}

export type ExportOptions = {
  /** OpenAI only: hold the model to the schema, for every tool whose schema allows it. Default false. */
  readonly strict?: boolean
  /** Gemini only: `openapi` (default) writes `parameters`, which all its endpoints read; `json` writes `parametersJsonSchema`, which says more. */
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
  readonly annotations?: {
    readonly title?: string
    readonly readOnlyHint?: boolean
    readonly destructiveHint?: boolean
    readonly idempotentHint?: boolean
    readonly openWorldHint?: boolean
  }
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
