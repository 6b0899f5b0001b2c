/**
 * A registry: the tools of all sources, listed, described, called and exported to model providers.
 *
 * A source (source.ts, source-table.ts, sources/) finds tools; loader.ts loads all sources and keeps them fresh; catalog.ts merges what they found and assigns names and ids (names.ts).
 * Tools of other processes are described by probe/, help/ and folder/, made safe by foreign/, and called by child/ (a process per call) or warm/ (a process that stays).
 * mcp/, openapi/ and sources/tool-server.ts talk to servers.
 */

import type { CallOptions } from '../core/call.ts'
import { createChangeNotifier, createProviderMethods } from '../core/provider.ts'
import { checkName, checkOptions } from '../define/checks.ts'
import type {
  ExportOptions,
  ProviderForms,
  ProviderName,
} from '../protocol/providers/export-tools.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { describeUnknownName } from '../util/text.ts'
import { compact } from '../util/values.ts'
import type { RegistryEntry } from './catalog.ts'
import type { FilterInput } from './filter.ts'
import { selectEntries } from './filter.ts'
import { loadSources } from './loader.ts'
import type { SourceOptions } from './source-table.ts'
import { SOURCE_TABLE } from './source-table.ts'
import type { ExtraSources, Registry, SourceRegistryOptions } from './types.ts'
import { describeEntry, listEntry } from './types.ts'

const REGISTRY_OPTION_NAMES = [
  'name',
  'version',
  'description',
  ...(Object.keys(SOURCE_TABLE) as readonly (keyof SourceOptions)[]),
  'answer',
  'sample',
  'guards',
  'state',
  'strict',
  'cwd',
  'env',
  'cache',
  'probe',
] as const satisfies readonly (keyof SourceRegistryOptions)[]

/** Opens a registry: loads all sources in parallel and waits until each has answered or failed. */
export async function openRegistry(
  options: SourceRegistryOptions,
  more?: ExtraSources,
): Promise<Registry> {
  checkOptions('registry()', options, [...REGISTRY_OPTION_NAMES, ...(more?.options ?? [])])
  const { name = 'toolable', version = '0.1.0', description, answer, sample } = options
  checkName('registry', name)
  const changes = createChangeNotifier()
  const loading = await loadSources(
    options,
    () =>
      (['tools', 'resources', 'prompts'] as const).forEach((kind) => changes.announce({ kind })),
    more?.make(() => registry),
    more?.loadTimeoutMs,
  )
  const shown = compact({ description })
  const now = () => loading.merged()
  const withDefaults = (given: CallOptions = {}): CallOptions => ({
    ...compact({ answer, sample }),
    ...given,
  })

  const known = (wanted: string): RegistryEntry => {
    const entry = typeof wanted === 'string' ? now().find(wanted) : undefined
    if (entry) return entry
    throw toUnknownToolError(String(wanted), now().entries)
  }
  const provide = async () => (await Promise.all([import('./providers.ts'), loading.prepare()]))[0]

  const exportTo = async <Name extends ProviderName>(
    provider: Name,
    { filter, ...how }: ExportOptions & { readonly filter?: FilterInput } = {},
  ): Promise<ProviderForms[Name]> => {
    const { exportTools } = await provide()
    return exportTools(provider, selectEntries(now().entries, filter), how)
  }

  const registry: Registry = {
    name,
    version,
    options: shown,
    get entries() {
      return now().entries
    },
    get resources() {
      return now().resources
    },
    get prompts() {
      return now().prompts
    },
    prepare: async () => loading.prepare(),
    onChange: (listener) => changes.listen(listener),
    ...createProviderMethods({
      name,
      version,
      options: shown,
      entries: async () => (await loading.prepare(), now().entries),
      find: (wanted) => now().find(wanted),
      createUnknownToolError: (wanted) => toUnknownToolError(wanted, now().entries),
      prepare: () => loading.prepare(),
      resources: () => now().resources,
      prompts: () => now().prompts,
      withDefaults,
    }),
    list: (filter) => selectEntries(now().listed, filter).map(listEntry),
    async describe(wanted) {
      await loading.prepare()
      return describeEntry(known(wanted))
    },
    async schema(wanted) {
      await loading.prepare()
      const { inputSchema, outputSchema } = (await known(wanted).definition.compiled()).manifest
      return compact({ input: inputSchema, output: outputSchema })
    },
    problems: () => now().problems,
    sources: () => loading.states(),
    async rescan({ fresh = false } = {}) {
      await loading.reload(fresh)
      return registry
    },
    toOpenAI: (({ api, ...how } = {}) =>
      exportTo(api === 'responses' ? 'openai-responses' : 'openai', how)) as Registry['toOpenAI'],
    toAnthropic: (how) => exportTo('anthropic', how),
    toGemini: (how) => exportTo('gemini', how),
    toMcp: (how) => exportTo('mcp', how),
    handleToolCall: async (call, callOptions) =>
      (await provide()).handleToolCall(registry, call, callOptions),
    close: () => loading.close(),
  }
  return registry
}

function toUnknownToolError(name: string, entries: readonly RegistryEntry[]): ToolError {
  const names = entries.flatMap((entry) => [entry.name, entry.id])
  const { message, meant } = describeUnknownName('tool', name, names)
  return new ToolError('NOT_FOUND', message, {
    details: { tools: entries.slice(0, 50).map((entry) => entry.name) },
    suggestion: meant
      ? { fix: `Call '${meant}'`, applicability: 'maybe_incorrect' }
      : {
          action: 'use_different_tool',
          fix:
            entries.length > 0
              ? 'toolable list'
              : 'The registry has no tools; look at its problems: toolable list --problems',
        },
  })
}
