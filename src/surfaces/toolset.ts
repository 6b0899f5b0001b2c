import { isVerified } from '../contract/built.ts'
import { isObject } from '../contract/json.ts'
import { ToolError } from '../contract/tool-error.ts'
import { unknownName } from '../contract/unknown-name.ts'
import { checkName, checkOptions, lookupKey } from '../define/names.ts'
import { isPrompt } from '../define/prompt.ts'
import type { Prompt } from '../define/prompt.ts'
import { isResource } from '../define/resource.ts'
import type { Resource } from '../define/resource.ts'
import { addEntry, collectTools, enter } from '../call/collect.ts'
import type { ToolEntry } from '../call/collect.ts'
import type { Finished } from '../call/finished.ts'
import { openLate } from '../call/late-stream.ts'
import { loadEngine } from '../call/load-engine.ts'
import type { CallOptions } from '../call/options.ts'
import { readRules, withRules } from '../call/rules.ts'
import { serveEntries } from '../call/serve-entries.ts'
import { isTool } from '../call/tool.ts'
import type { AnyTool } from '../call/tool.ts'
import { checkArgsEarly } from './args-early.ts'
import { hasStarted, runAsProcess } from './cli/run.ts'
import { createChanges } from '../call/changes.ts'
import type { ModuleToolsetOptions, Toolset, ToolsetOptions } from './toolset-type.ts'

const OPTIONS = [
  'name',
  'version',
  'description',
  'tools',
  'resources',
  'prompts',
  'defaultOutput',
  'mcpTransport',
  'permissions',
  'skillAutoGenerate',
  'guards',
  'state',
] as const satisfies readonly (keyof ToolsetOptions)[]

/** Builds a toolset of the functions of a module, whose types have to be read first; everything else as below. Rejects with CONFIG where it has none. */
export function toolset(given: ModuleToolsetOptions): Promise<Toolset>
/** Builds a toolset; a single tool is the shorthand for a program of that one tool. Throws CONFIG for duplicate or unusable names. */
export function toolset(given: ToolsetOptions | AnyTool): Toolset
export function toolset(
  given: ToolsetOptions | ModuleToolsetOptions | AnyTool,
): Toolset | Promise<Toolset> {
  return isObject(given) && Object.hasOwn(given, 'module')
    ? openToolset(given as ModuleToolsetOptions)
    : makeToolset(given as ToolsetOptions | AnyTool)
}

async function openToolset(options: ModuleToolsetOptions): Promise<Toolset> {
  return (await import('./module-toolset.ts')).moduleToolset(options, makeToolset)
}

function makeToolset(given: ToolsetOptions | AnyTool): Toolset {
  const options: ToolsetOptions = isTool(given)
    ? { name: given.name.replaceAll('_', '-'), tools: [given] }
    : given
  if (!isObject(options))
    throw new ToolError('CONFIG', 'toolset() takes { name, tools } or one tool')
  checkName('toolset', options.name)
  checkOptions(`toolset '${options.name}'`, options, OPTIONS)
  const version = options.version ?? '0.1.0'
  const entries = new Map<string, ToolEntry>()
  const resources: Resource[] = []
  const prompts: Prompt[] = []
  const changes = createChanges()
  const identity = { toolset: options.name, version }
  const rules = readRules(options)
  // What a program finds only when it runs no build has seen.
  const isKnown = isVerified() && !hasStarted()

  const set: Toolset = {
    name: options.name,
    version,
    options,
    get entries() {
      return [...entries.values()]
    },
    resources,
    prompts,
    add(tool, name) {
      include(enter(tool, [], name))
      changes.announce({ kind: 'tools' })
      return set
    },
    addResource(resource) {
      if (!isResource(resource))
        throw new ToolError(
          'CONFIG',
          `toolset '${options.name}' got something that resource() did not make`,
        )
      const { uri } = resource.manifest
      const other = resources.find(
        ({ manifest }) => withoutNames(manifest.uri) === withoutNames(uri),
      )?.manifest.uri
      if (other !== undefined)
        throw new ToolError(
          'CONFIG',
          `two resources have the address '${other}'${other === uri ? '' : ` ('${uri}' matches the same)`}: change the address of one`,
        )
      resources.push(resource)
      changes.announce({ kind: 'resources' })
      return set
    },
    addPrompt(prompt) {
      if (!isPrompt(prompt))
        throw new ToolError(
          'CONFIG',
          `toolset '${options.name}' got something that prompt() did not make`,
        )
      if (prompts.some(({ name }) => lookupKey(name) === lookupKey(prompt.name)))
        throw new ToolError('CONFIG', `two prompts are called '${prompt.name}': rename one`)
      prompts.push(prompt)
      changes.announce({ kind: 'prompts' })
      return set
    },
    remove(name) {
      const removed = typeof name === 'string' && entries.delete(lookupKey(name))
      if (removed) changes.announce({ kind: 'tools' })
      return removed
    },
    removeResource(uri) {
      const removed =
        typeof uri === 'string' &&
        takeOut(resources, ({ manifest }) => withoutNames(manifest.uri) === withoutNames(uri))
      if (removed) changes.announce({ kind: 'resources' })
      return removed
    },
    removePrompt(name) {
      const removed =
        typeof name === 'string' &&
        takeOut(prompts, (prompt) => lookupKey(prompt.name) === lookupKey(name))
      if (removed) changes.announce({ kind: 'prompts' })
      return removed
    },
    onChange(listener) {
      if (typeof listener !== 'function')
        throw new ToolError('CONFIG', 'onChange() takes a function: (change) => ...')
      return changes.listen(listener)
    },
    resourceChanged(uri) {
      if (typeof uri !== 'string' || uri === '')
        throw new ToolError(
          'CONFIG',
          'resourceChanged() takes the address of the resource that changed',
        )
      changes.announce({ kind: 'resource', uri })
    },
    find: (name) => entries.get(lookupKey(name)),
    ...serveEntries({
      name: options.name,
      version,
      options,
      entries: () => entries.values(),
      resources: () => resources,
      prompts: () => prompts,
    }),
    call: (name, input, callOptions) =>
      start(name, input, callOptions).then(({ outcome }) => outcome),
    stream: (name, input, callOptions) =>
      openLate(async () =>
        (await loadEngine()).streamCall((streaming) => start(name, input, streaming), callOptions),
      ),
    async run(entry) {
      await runAsProcess(set, makeToolset, entry)
    },
  }
  const start = (name: string, input: unknown, callOptions?: CallOptions): Promise<Finished> => {
    const entry = typeof name === 'string' ? set.find(name) : undefined
    if (entry) {
      // Not awaited where it is there already: a call is made of few promises.
      const engine = loadEngine()
      const run = ({ invoke }: Awaited<typeof engine>): Promise<Finished> =>
        invoke(entry.definition, input, callOptions, identity)
      return engine instanceof Promise ? engine.then(run) : run(engine)
    }
    const error = unknownTool(String(name), set.entries)
    return Promise.resolve({
      outcome: {
        ok: false,
        status: 'error',
        error: error.toObject(),
        meta: { tool: `${options.name}.${String(name).slice(0, 64)}`, version, duration_ms: 0 },
      },
      error,
    })
  }

  const include = (given: ToolEntry): void => {
    const entry = rules ? { ...given, definition: withRules(given.definition, rules) } : given
    addEntry(entries, entry)
    if (isKnown) return
    if (!entry.definition.facts.examples.some(({ args }) => args !== undefined)) return
    checkArgsEarly(entry.definition)
    entry.definition.whenCompiled(async (compiled) =>
      (await import('./args-examples.ts')).checkArgsExamples(compiled),
    )
  }

  for (const entry of collectTools(options.tools ?? [])) include(entry)
  for (const resource of options.resources ?? []) set.addResource(resource)
  for (const prompt of options.prompts ?? []) set.addPrompt(prompt)
  return set
}

function unknownTool(name: string, entries: readonly ToolEntry[]): ToolError {
  const names = entries.map((entry) => entry.name)
  const { message, meant } = unknownName('tool', name, names)
  return new ToolError('NOT_FOUND', message, {
    details: { tools: names.slice(0, 50) },
    suggestion: meant
      ? { fix: `Call '${meant}'`, applicability: 'maybe_incorrect' }
      : {
          action: 'use_different_tool',
          fix:
            names.length > 0
              ? `The tools are ${names.slice(0, 20).join(', ')}`
              : 'This program has no tools',
        },
  })
}

// In place, because others hold the list.
function takeOut<T>(list: T[], isMeant: (item: T) => boolean): boolean {
  const index = list.findIndex(isMeant)
  if (index !== -1) list.splice(index, 1)
  return index !== -1
}

// `notes://{id}` and `notes://{name}` are the same address.
function withoutNames(uri: string): string {
  return uri.replace(/\{\w+\}/g, '{}')
}
