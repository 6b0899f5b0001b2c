/**
 * Exports the tools of a registry to OpenAI, Anthropic, Gemini and MCP, and answers their tool
 * calls.
 */

import type { CallOptions } from '../core/call.ts'
import type { ToolEntry } from '../core/provider.ts'
import type {
  ExportOptions,
  ProviderForms,
  ProviderName,
} from '../protocol/providers/export-tools.ts'
import { toProvider } from '../protocol/providers/export-tools.ts'
import type { ToolMessage } from '../protocol/providers/tool-messages.ts'
import type { RegistryEntry } from './catalog.ts'
import { indexByExportName, toExportName } from './names.ts'
import { answerToolCall } from './tool-calls.ts'
import type { Registry } from './types.ts'

/** The part of an entry that a provider gets. */
type ProvidedTool = Pick<ToolEntry, 'name' | 'definition'>

/** Entries in the form that a provider's request takes. */
export async function exportTools<Name extends ProviderName>(
  provider: Name,
  entries: readonly ProvidedTool[],
  options?: ExportOptions,
): Promise<ProviderForms[Name]> {
  const tools = await Promise.all(
    entries.map(async ({ name, definition }) => ({
      name: toExportName(name),
      manifest: (await definition.compiled()).manifest,
    })),
  )
  return toProvider(provider, tools, options)
}

/** Runs the tool calls of a model and returns the messages that answer them. Never throws. */
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
