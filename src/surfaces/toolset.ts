import type { CallEvent } from '../contract/events.ts'
import { closest } from '../contract/did-you-mean.ts'
import { isObject } from '../contract/json.ts'
import type { Permissions, ToolsetManifest } from '../contract/manifest.ts'
import type { Outcome } from '../contract/outcome.ts'
import { ToolError } from '../contract/tool-error.ts'
import { addEntry, collectTools, enter } from '../call/collect.ts'
import type { ToolEntry, ToolTree } from '../call/collect.ts'
import type { CallOptions } from '../call/options.ts'
import { invoke } from '../call/pipeline.ts'
import type { Finished } from '../call/finished.ts'
import { readResource, renderPrompt } from '../call/read.ts'
import { streamCall } from '../call/stream.ts'
import { isTool } from '../call/tool.ts'
import type { AnyTool } from '../call/tool.ts'
import { checkName, lookupKey } from '../define/names.ts'
import { isPrompt } from '../define/prompt.ts'
import type { Prompt, PromptText } from '../define/prompt.ts'
import { isResource } from '../define/resource.ts'
import type { Resource } from '../define/resource.ts'
import { checkArgsExamples } from './args-examples.ts'

export type OutputDefault = 'auto' | 'json' | 'jsonl' | 'text' | 'yaml' | 'toon' | 'md' | 'csv'

export type ToolsetOptions = {
  /** The program's name: 1 to 64 characters of `a-z 0-9 _ -`. */
  readonly name: string
  /** Default `0.1.0`. */
  readonly version?: string
  readonly description?: string
  readonly tools?: ToolTree
  readonly resources?: readonly Resource[]
  readonly prompts?: readonly Prompt[]
  /** What `--output auto` means; default `auto`: text on a terminal, JSON in a pipe. */
  readonly defaultOutput?: OutputDefault
  readonly mcpTransport?: 'stdio' | 'http'
  readonly permissions?: Permissions
  readonly skillAutoGenerate?: boolean
}

/** Tools, resources and prompts under one name: a program, and a unit for every other surface. */
export type Toolset = {
  readonly name: string
  readonly version: string
  readonly options: ToolsetOptions
  readonly entries: readonly ToolEntry[]
  readonly resources: readonly Resource[]
  readonly prompts: readonly Prompt[]
  /** Adds a tool, under another name if one is given. */
  add(tool: AnyTool, name?: string): Toolset
  addResource(resource: Resource): Toolset
  addPrompt(prompt: Prompt): Toolset
  /** The tool of a name; '-' and '_' are equal. */
  find(name: string): ToolEntry | undefined
  manifest(): ToolsetManifest
  /** Calls a tool by name; an unknown name is a failed outcome. */
  call(name: string, input?: unknown, options?: CallOptions): Promise<Outcome>
  stream(name: string, input?: unknown, options?: CallOptions): AsyncIterable<CallEvent>
  readResource(uri: string, options?: CallOptions): Promise<Outcome>
  renderPrompt(name: string, args?: unknown, options?: CallOptions): Promise<Outcome<PromptText>>
  /** Runs the command line and ends the process. With `import.meta`: only when that file is the program's entry point. */
  run(entry?: ImportMeta): Promise<void>
}

/** Builds a toolset; a single tool is the shorthand for a program of that one tool. Throws CONFIG for duplicate or unusable names. */
export function toolset(given: ToolsetOptions | AnyTool): Toolset {
  const options: ToolsetOptions = isTool(given) ? { name: given.name.replaceAll('_', '-'), tools: [given] } : given
  if (!isObject(options)) throw new ToolError('CONFIG', 'toolset() takes { name, tools } or one tool')
  checkName('toolset', options.name)
  const version = options.version ?? '0.1.0'
  const entries = new Map<string, ToolEntry>()
  const resources: Resource[] = []
  const prompts: Prompt[] = []
  const identity = { toolset: options.name, version }

  const set: Toolset = {
    name: options.name,
    version,
    options,
    get entries() { return [...entries.values()] },
    resources,
    prompts,
    add(tool, name) {
      include(enter(tool, [], name))
      return set
    },
    addResource(resource) {
      if (!isResource(resource)) throw new ToolError('CONFIG', `toolset '${options.name}' got something that resource() did not make`)
      const { uri } = resource.manifest
      const other = resources.find(({ manifest }) => withoutNames(manifest.uri) === withoutNames(uri))?.manifest.uri
      if (other !== undefined) throw new ToolError('CONFIG', `two resources have the address '${other}'${other === uri ? '' : ` ('${uri}' matches the same)`}: change the address of one`)
      resources.push(resource)
      return set
    },
    addPrompt(prompt) {
      if (!isPrompt(prompt)) throw new ToolError('CONFIG', `toolset '${options.name}' got something that prompt() did not make`)
      if (prompts.some(({ name }) => lookupKey(name) === lookupKey(prompt.name))) throw new ToolError('CONFIG', `two prompts are called '${prompt.name}': rename one`)
      prompts.push(prompt)
      return set
    },
    find: (name) => entries.get(lookupKey(name)),
    manifest: () => ({
      name: options.name,
      version,
      ...(options.description !== undefined && { description: options.description }),
      ...(options.permissions && { permissions: options.permissions }),
      tools: [...entries.values()].map(({ path, definition }) => ({ ...definition.manifest(), path })),
      resources: resources.map(({ manifest }) => manifest),
      prompts: prompts.map((prompt) => prompt.manifest()),
    }),
    call: async (name, input, callOptions) => (await start(name, input, callOptions)).outcome,
    stream: (name, input, callOptions) => streamCall((streaming) => start(name, input, streaming), callOptions),
    readResource: (uri, callOptions) => readResource(resources, uri, callOptions, identity),
    renderPrompt: (name, args, callOptions) => renderPrompt(prompts, name, args, callOptions, identity),
    async run(entry) {
      const { runAsProcess } = await import('./cli/run.ts')
      await runAsProcess(set, entry)
    },
  }
  const start = async (name: string, input: unknown, callOptions?: CallOptions): Promise<Finished> => {
    const entry = typeof name === 'string' ? set.find(name) : undefined
    if (entry) return invoke(entry.definition, input, callOptions, identity)
    const error = unknownTool(String(name), set.entries)
    return { outcome: { ok: false, status: 'error', error: error.toObject(), meta: { tool: `${options.name}.${String(name).slice(0, 64)}`, version, duration_ms: 0 } }, error }
  }

  const include = (entry: ToolEntry): void => {
    addEntry(entries, entry)
    entry.definition.whenBuilt(checkArgsExamples)
  }

  for (const entry of collectTools(options.tools ?? [])) include(entry)
  for (const resource of options.resources ?? []) set.addResource(resource)
  for (const prompt of options.prompts ?? []) set.addPrompt(prompt)
  return set
}

/** The failure for a name that no tool has. */
export function unknownTool(name: string, entries: readonly ToolEntry[]): ToolError {
  const names = entries.map((entry) => entry.name)
  const meant = closest(name, names)
  const shown = name.length > 100 ? `${name.slice(0, 100)}…` : name
  return new ToolError('NOT_FOUND', `there is no tool '${shown}'${meant ? `; did you mean '${meant}'?` : ''}`, {
    details: { tools: names.slice(0, 50) },
    suggestion: meant ? { fix: `Call '${meant}'`, applicability: 'maybe_incorrect' } : { action: 'use_different_tool', fix: names.length > 0 ? `The tools are ${names.slice(0, 20).join(', ')}` : 'This program has no tools' },
  })
}

// `notes://{id}` and `notes://{name}` are the same address.
function withoutNames(uri: string): string {
  return uri.replace(/\{\w+\}/g, '{}')
}
