import type { ToolEntry } from '../call/collect.ts'
import type { CallOptions } from '../call/options.ts'
import type {
  AnthropicTool,
  ExportOptions,
  ExportedTool,
  GeminiTool,
  McpTool,
  OpenAiResponsesTool,
  OpenAiTool,
} from '../contract/providers/forms.ts'
import { toProvider } from '../contract/providers/to-provider.ts'
import type { ToolMessage } from '../contract/providers/render-message.ts'
import { answerToolCall } from './answer-tool-call.ts'
import type { Entry } from './entry.ts'
import { exportName, providerNames } from './names.ts'
import type { Registry } from './registry-type.ts'

/** What of an entry a provider is told about. */
type ProvidedTool = Pick<ToolEntry, 'name' | 'definition'>

type OpenAiOptions = Pick<ExportOptions, 'strict' | 'onNote'> & {
  readonly api?: 'chat' | 'responses'
}

/** Entries as OpenAI's chat completions (default) or responses take them. */
export async function toOpenAI(
  entries: readonly ProvidedTool[],
  { api = 'chat', ...options }: OpenAiOptions,
): Promise<(OpenAiTool | OpenAiResponsesTool)[]> {
  return toProvider(
    api === 'responses' ? 'openai-responses' : 'openai',
    await exported(entries),
    options,
  )
}

/** Entries as Anthropic's messages take them. */
export async function toAnthropic(entries: readonly ProvidedTool[]): Promise<AnthropicTool[]> {
  return toProvider('anthropic', await exported(entries))
}

/** Entries as one member of Gemini's list of tools. */
export async function toGemini(
  entries: readonly ProvidedTool[],
  options: Pick<ExportOptions, 'schema'>,
): Promise<GeminiTool> {
  return toProvider('gemini', await exported(entries), options)
}

/** Entries as `tools/list` of MCP shows them. */
export async function toMcp(entries: readonly ProvidedTool[]): Promise<McpTool[]> {
  return toProvider('mcp', await exported(entries))
}

/** Runs what a model asked for and gives the messages that answer it. Never throws. */
export async function handleToolCall(
  registry: Registry,
  said: unknown,
  options?: CallOptions,
): Promise<ToolMessage | readonly ToolMessage[]> {
  const entries = registry.entries as readonly Entry[]
  const byName = providerNames(entries)
  return answerToolCall(said, {
    names: () => [...byName.keys()],
    find(name) {
      const entry = byName.get(name) ?? registry.find(name)
      return (
        entry && {
          inputSchema: async () => (await entry.definition.compiled()).manifest.inputSchema,
          call: (input) => registry.call((entry as Entry).id, input, options),
        }
      )
    },
  })
}

async function exported(entries: readonly ProvidedTool[]): Promise<ExportedTool[]> {
  return Promise.all(
    entries.map(async ({ name, definition }) => ({
      name: exportName(name),
      manifest: (await definition.compiled()).manifest,
    })),
  )
}
