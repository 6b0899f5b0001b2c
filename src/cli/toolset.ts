/**
 * Builds a toolset: the tools, resources and prompts of one program.
 *
 * The `cli` folder turns a toolset into a command line. One call runs through it in this order:
 * `toolset.ts` builds the set, `run.ts` makes it the process, `main.ts` decides what the arguments
 * ask for (`command.ts`, `global-flags.ts`), and `call.ts` reads the input (`input.ts`), runs the
 * tool, shows what it reports or asks (`interaction.ts`) and prints the outcome (`output.ts`).
 * Files that only some calls need are loaded with `import()`.
 */

import { createRules, toLookupKey, withRules } from '../core/call.ts'
import type { ToolEntry } from '../core/provider.ts'
import {
  addEntry,
  collectTools,
  createChangeNotifier,
  createEntry,
  createEntryFinder,
  createProviderMethods,
} from '../core/provider.ts'
import type { AnyTool } from '../core/tool.ts'
import { isTool } from '../core/tool.ts'
import { checkName, checkOptions } from '../define/checks.ts'
import type { Prompt } from '../define/prompt.ts'
import { isPrompt } from '../define/prompt.ts'
import type { Resource } from '../define/resource.ts'
import { isResource } from '../define/resource.ts'
import { isVerifiedBuild } from '../protocol/built-program.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { describeUnknownName } from '../util/text.ts'
import { isObject } from '../util/values.ts'
import { checkExampleFlags } from './check-examples.ts'
import { hasStarted, runAsProcess } from './run.ts'
import type { ModuleToolsetOptions, Toolset, ToolsetOptions } from './types.ts'

const TOOLSET_OPTION_NAMES = [
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

/**
 * Builds a toolset of the functions of a module, whose types have to be read first; everything else
 * as below. Rejects with CONFIG where it has none.
 */
export function toolset(given: ModuleToolsetOptions): Promise<Toolset>
/**
 * Builds a toolset; a single tool is the shorthand for a program of that one tool. Throws CONFIG
 * for duplicate or unusable names.
 */
export function toolset(given: ToolsetOptions | AnyTool): Toolset
export function toolset(
  given: ToolsetOptions | ModuleToolsetOptions | AnyTool,
): Toolset | Promise<Toolset> {
  if (isTool(given)) return createToolset({ name: given.name.replaceAll('_', '-'), tools: [given] })
  if (!isObject(given)) reject('toolset() takes { name, tools } or one tool')
  return Object.hasOwn(given, 'module')
    ? openModuleToolset(given as ModuleToolsetOptions)
    : createToolset(given as ToolsetOptions)
}

async function openModuleToolset(options: ModuleToolsetOptions): Promise<Toolset> {
  return (await import('./module-toolset.ts')).createModuleToolset(options, createToolset)
}

function createToolset(options: ToolsetOptions): Toolset {
  checkName('toolset', options.name)
  checkOptions(`toolset '${options.name}'`, options, TOOLSET_OPTION_NAMES)
  const version = options.version ?? '0.1.0'
  const entries = new Map<string, ToolEntry>()
  const resources: Resource[] = []
  const prompts: Prompt[] = []
  const changes = createChangeNotifier()
  const rules = createRules(options)
  // What a program finds only when it runs no build has seen.
  const isKnown = isVerifiedBuild() && !hasStarted()

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
      include(createEntry(tool, [], name))
      changes.announce({ kind: 'tools' })
      return set
    },
    addResource(resource) {
      if (!isResource(resource))
        reject(`toolset '${options.name}' got something that resource() did not make`)
      const { uri } = resource.manifest
      const other = resources.find(hasAddress(uri))?.manifest.uri
      const note = other === uri ? '' : ` ('${uri}' matches the same)`
      if (other !== undefined)
        reject(`two resources have the address '${other}'${note}: change the address of one`)
      resources.push(resource)
      changes.announce({ kind: 'resources' })
      return set
    },
    addPrompt(prompt) {
      if (!isPrompt(prompt))
        reject(`toolset '${options.name}' got something that prompt() did not make`)
      if (prompts.some(isCalled(prompt.name)))
        reject(`two prompts are called '${prompt.name}': rename one`)
      prompts.push(prompt)
      changes.announce({ kind: 'prompts' })
      return set
    },
    remove(name) {
      const removed = typeof name === 'string' && entries.delete(toLookupKey(name))
      if (removed) changes.announce({ kind: 'tools' })
      return removed
    },
    removeResource(uri) {
      const removed = typeof uri === 'string' && removeFirst(resources, hasAddress(uri))
      if (removed) changes.announce({ kind: 'resources' })
      return removed
    },
    removePrompt(name) {
      const removed = typeof name === 'string' && removeFirst(prompts, isCalled(name))
      if (removed) changes.announce({ kind: 'prompts' })
      return removed
    },
    onChange(listener) {
      if (typeof listener !== 'function') reject('onChange() takes a function: (change) => ...')
      return changes.listen(listener)
    },
    resourceChanged(uri) {
      if (typeof uri !== 'string' || uri === '')
        reject('resourceChanged() takes the address of the resource that changed')
      changes.announce({ kind: 'resource', uri })
    },
    ...createProviderMethods({
      name: options.name,
      version,
      options,
      entries: () => entries.values(),
      find: createEntryFinder(entries),
      createUnknownToolError: (name) => createUnknownToolError(name, set.entries),
      resources: () => resources,
      prompts: () => prompts,
    }),
    async run(entry) {
      await runAsProcess(set, createToolset, entry)
    },
  }
  const include = (given: ToolEntry): void => {
    const entry = rules ? { ...given, definition: withRules(given.definition, rules) } : given
    addEntry(entries, entry)
    if (isKnown) return
    if (!entry.definition.metadata.examples.some(({ args }) => args !== undefined)) return
    checkExampleFlags(entry.definition)
    entry.definition.onCompiled(async (compiled) =>
      (await import('./example-arguments.ts')).checkExampleArgs(compiled),
    )
  }

  for (const entry of collectTools(options.tools ?? [])) include(entry)
  for (const resource of options.resources ?? []) set.addResource(resource)
  for (const prompt of options.prompts ?? []) set.addPrompt(prompt)
  return set
}

function createUnknownToolError(name: string, entries: readonly ToolEntry[]): ToolError {
  const names = entries.map((entry) => entry.name)
  const { message, meant } = describeUnknownName('tool', name, names)
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
function removeFirst<T>(list: T[], isMeant: (item: T) => boolean): boolean {
  const index = list.findIndex(isMeant)
  if (index !== -1) list.splice(index, 1)
  return index !== -1
}

function isCalled(name: string): (prompt: Prompt) => boolean {
  return (prompt) => toLookupKey(prompt.name) === toLookupKey(name)
}

// `notes://{id}` and `notes://{name}` are the same address.
function hasAddress(uri: string): (resource: Resource) => boolean {
  const normalize = (template: string): string => template.replace(/\{\w+\}/g, '{}')
  return ({ manifest }) => normalize(manifest.uri) === normalize(uri)
}

function reject(message: string): never {
  throw new ToolError('CONFIG', message)
}
