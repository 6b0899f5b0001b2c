/**
 * Exports the tools of a registry to OpenAI, Anthropic, Gemini and MCP, and answers their tool
 * calls.
 */

import type { CallOptions } from '../core/call.ts'
import type { ToolEntry } from '../core/provider.ts'
import type {
  AnthropicTool,
  ExportedTool,
  ExportOptions,
  GeminiTool,
  McpTool,
  OpenAiResponsesTool,
  OpenAiTool,
} from '../protocol/providers/export-tools.ts'
import { toProvider } from '../protocol/providers/export-tools.ts'
import type { ToolMessage } from '../protocol/providers/tool-messages.ts'
import type { RegistryEntry } from './catalog.ts'
import { indexByExportName, toExportName } from './names.ts'
import { answerToolCall } from './tool-calls.ts'
import type { Registry } from './types.ts'

/** What of an entry a provider is told about. */
type ProvidedTool = Pick<ToolEntry, 'name' | 'definition'>

type OpenAiExportOptions = Pick<ExportOptions, 'strict' | 'onNote'> & {
  readonly api?: 'chat' | 'responses'
}

/** Entries as OpenAI's chat completions (default) or responses take them. */
export async function toOpenAI(
  entries: readonly ProvidedTool[],
  { api = 'chat', ...options }: OpenAiExportOptions,
): Promise<(OpenAiTool | OpenAiResponsesTool)[]> {
  return toProvider(
    api === 'responses' ? 'openai-responses' : 'openai',
    await toExportedTools(entries),
    options,
  )
}

/** Entries as Anthropic's messages take them. */
export async function toAnthropic(entries: readonly ProvidedTool[]): Promise<AnthropicTool[]> {
  return toProvider('anthropic', await toExportedTools(entries))
}

/** Entries as one member of Gemini's list of tools. */
export async function toGemini(
  entries: readonly ProvidedTool[],
  options: Pick<ExportOptions, 'schema'>,
): Promise<GeminiTool> {
  return toProvider('gemini', await toExportedTools(entries), options)
}

/** Entries as `tools/list` of MCP shows them. */
export async function toMcp(entries: readonly ProvidedTool[]): Promise<McpTool[]> {
  return toProvider('mcp', await toExportedTools(entries))
}

/** Runs what a model asked for and gives the messages that answer it. Never throws. */
export async function handleToolCall(
  registry: Registry,
  said: unknown,
  options?: CallOptions,
): Promise<ToolMessage | readonly ToolMessage[]> {
  const entries = registry.entries as readonly RegistryEntry[]
  const byName = indexByExportName(entries)
  return answerToolCall(said, {
    names: () => [...byName.keys()],
    find(name) {
      const entry = byName.get(name) ?? registry.find(name)
      return (
        entry && {
          inputSchema: async () => (await entry.definition.compiled()).manifest.inputSchema,
          call: (input) => registry.call((entry as RegistryEntry).id, input, options),
        }
      )
    },
  })
}

async function toExportedTools(entries: readonly ProvidedTool[]): Promise<ExportedTool[]> {
  return Promise.all(
    entries.map(async ({ name, definition }) => ({
      name: toExportName(name),
      manifest: (await definition.compiled()).manifest,
    })),
  )
}
