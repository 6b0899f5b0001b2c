import type { ToolManifest } from '../contract/manifest.ts'
import type { Prompt } from '../define/prompt.ts'
import type { Resource } from '../define/resource.ts'
import type { ToolEntry } from './collect.ts'
import { loadEngine } from './load-engine.ts'
import type { CallOptions } from './options.ts'
import type { Servable } from './servable.ts'

/** What stands behind something that can be served: it may change, so it is asked each time. */
export type Held = {
  readonly name: string
  readonly version: string
  readonly options: Servable['options']
  entries(): Iterable<ToolEntry> | Promise<Iterable<ToolEntry>>
  resources(): readonly Resource[]
  prompts(): readonly Prompt[]
  /** What goes with every reading, where the caller does not say otherwise. */
  withDefaults?(options: CallOptions | undefined): CallOptions | undefined
}

/** Descriptions of what is held, and reading of its resources and prompts: the same for a toolset and a registry. */
export function serveEntries({
  name,
  version,
  options,
  entries,
  resources,
  prompts,
  withDefaults = (given) => given,
}: Held): Pick<
  Servable,
  'manifest' | 'sketch' | 'outline' | 'listResources' | 'readResource' | 'renderPrompt'
> {
  const identity = { toolset: name, version }
  const outline: Servable['outline'] = async () => ({
    name,
    version,
    ...(options.description !== undefined && { description: options.description }),
    ...(options.permissions && { permissions: options.permissions }),
    tools: Array.from(await entries(), ({ definition }) => definition.facts),
    resources: resources().map(({ manifest }) => manifest),
    prompts: await Promise.all(prompts().map((prompt) => prompt.manifest())),
  })
  const describe = async (read: (entry: ToolEntry) => ToolManifest | Promise<ToolManifest>) => ({
    ...(await outline()),
    tools: await Promise.all(
      Array.from(await entries(), async (entry) => withPath(await read(entry), entry.path)),
    ),
  })
  return {
    outline,
    manifest: () => describe(async ({ definition }) => (await definition.compiled()).manifest),
    sketch: () =>
      describe(
        async ({ definition }) => definition.sketch() ?? (await definition.compiled()).manifest,
      ),
    listResources: async (given) =>
      (await loadEngine()).listResources(resources(), withDefaults(given), identity),
    readResource: async (uri, given) =>
      (await loadEngine()).readResource(resources(), uri, withDefaults(given), identity),
    renderPrompt: async (wanted, args, given) =>
      (await loadEngine()).renderPrompt(prompts(), wanted, args, withDefaults(given), identity),
  }
}

// The schemas stay unread until somebody looks: help for two hundred tools publishes none of them.
function withPath(
  manifest: ToolManifest,
  path: readonly string[],
): ToolManifest & { readonly path: readonly string[] } {
  return Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(manifest), path: { value: path, enumerable: true } },
  ) as ToolManifest & { readonly path: readonly string[] }
}
