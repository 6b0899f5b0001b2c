import type { Outcome } from '../contract/outcome.ts'
import { ToolError } from '../contract/tool-error.ts'
import { unknownName } from '../contract/unknown-name.ts'
import { checkName, checkOptions } from '../define/names.ts'
import { createChanges } from '../call/changes.ts'
import type { Finished } from '../call/finished.ts'
import { openLate } from '../call/late-stream.ts'
import { loadEngine } from '../call/load-engine.ts'
import type { CallOptions } from '../call/options.ts'
import { serveEntries } from '../call/serve-entries.ts'
import type { Entry } from './entry.ts'
import { describeEntry, listEntry } from './describe.ts'
import { selectEntries } from './filter.ts'
import { loadAll } from './load-all.ts'
import type { MoreSources, Registry, RegistryOptions } from './registry-type.ts'

const OPTIONS = [
  'name',
  'version',
  'description',
  'tools',
  'folders',
  'modules',
  'programs',
  'mcpServers',
  'toolServers',
  'openapi',
  'answer',
  'sample',
  'guards',
  'state',
  'strict',
  'cwd',
  'env',
  'cache',
  'probe',
] as const satisfies readonly (keyof RegistryOptions)[]

/** Opens a registry: looks into all sources at once, and waits until each has answered or given up. */
export async function openRegistry(
  options: RegistryOptions,
  more?: MoreSources,
): Promise<Registry> {
  checkOptions('registry()', options, [...OPTIONS, ...(more?.options ?? [])])
  const { name = 'toolable', version = '0.1.0', description, answer, sample } = options
  checkName('registry', name)
  const changes = createChanges()
  const loading = await loadAll(
    options,
    () =>
      (['tools', 'resources', 'prompts'] as const).forEach((kind) => changes.announce({ kind })),
    more?.make(() => registry),
    more?.patience,
  )
  const shown = { ...(description !== undefined && { description }) }
  const now = () => loading.merged()
  const withDefaults = (given: CallOptions = {}): CallOptions => ({
    ...(answer && { answer }),
    ...(sample && { sample }),
    ...given,
  })

  const known = (wanted: string): Entry => {
    const entry = typeof wanted === 'string' ? now().find(wanted) : undefined
    if (entry) return entry
    throw unknownTool(String(wanted), now().entries)
  }
  const start = (wanted: string, input: unknown, callOptions?: CallOptions): Promise<Finished> => {
    const entry = typeof wanted === 'string' ? now().find(wanted) : undefined
    if (entry) {
      // Not awaited where it is there already: a call is made of few promises.
      const engine = loadEngine()
      const ready = loading.prepare()
      const run = ({ invoke }: Awaited<typeof engine>): Promise<Finished> =>
        invoke(entry.definition, input, withDefaults(callOptions), entry.identity)
      return ready || engine instanceof Promise
        ? Promise.all([engine, ready]).then(([loaded]) => run(loaded))
        : run(engine)
    }
    const error = unknownTool(String(wanted), now().entries)
    return Promise.resolve({
      outcome: {
        ok: false,
        status: 'error',
        error: error.toObject(),
        meta: { tool: `${name}.${String(wanted).slice(0, 64)}`, version, duration_ms: 0 },
      } satisfies Outcome,
      error,
    })
  }
  const provide = async () => (await Promise.all([import('./provide.ts'), loading.prepare()]))[0]

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
    find: (wanted) => now().find(wanted),
    ...serveEntries({
      name,
      version,
      options: shown,
      entries: async () => (await loading.prepare(), now().entries),
      resources: () => now().resources,
      prompts: () => now().prompts,
      withDefaults,
    }),
    call: (wanted, input, callOptions) =>
      start(wanted, input, callOptions).then(({ outcome }) => outcome),
    stream: (wanted, input, callOptions) =>
      openLate(async () =>
        (await loadEngine()).streamCall(
          (streaming) => start(wanted, input, streaming),
          withDefaults(callOptions),
        ),
      ),
    list: (filter) => selectEntries(now().listed, filter).map(listEntry),
    async describe(wanted) {
      await loading.prepare()
      return describeEntry(known(wanted))
    },
    async schema(wanted) {
      await loading.prepare()
      const { inputSchema, outputSchema } = (await known(wanted).definition.compiled()).manifest
      return { input: inputSchema, ...(outputSchema && { output: outputSchema }) }
    },
    problems: () => now().problems,
    sources: () => loading.states(),
    async rescan({ fresh = false } = {}) {
      await loading.reload(fresh)
      return registry
    },
    toOpenAI: (async ({ filter, ...how } = {}) =>
      (await provide()).toOpenAI(
        selectEntries(now().entries, filter),
        how,
      )) as Registry['toOpenAI'],
    toAnthropic: async ({ filter } = {}) =>
      (await provide()).toAnthropic(selectEntries(now().entries, filter)),
    toGemini: async ({ filter, ...how } = {}) =>
      (await provide()).toGemini(selectEntries(now().entries, filter), how),
    toMcp: async ({ filter } = {}) => (await provide()).toMcp(selectEntries(now().entries, filter)),
    handleToolCall: async (call, callOptions) =>
      (await provide()).handleToolCall(registry, call, callOptions),
    close: () => loading.close(),
  }
  return registry
}

function unknownTool(name: string, entries: readonly Entry[]): ToolError {
  const names = entries.flatMap((entry) => [entry.name, entry.id])
  const { message, meant } = unknownName('tool', name, names)
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
