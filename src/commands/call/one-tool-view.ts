import type { ToolsetManifest } from '../../contract/manifest.ts'
import type { ToolEntry } from '../../call/collect.ts'
import type { Servable } from '../../call/servable.ts'

/** A registry as far as the command line of one of its tools needs it: named and reached as the user typed it, so that help and suggestions can be pasted. */
export function oneToolView(
  registry: Servable,
  found: ToolEntry,
  verb: 'call' | 'run' = 'call',
): Servable {
  // Not spread: the definition is made when it is needed.
  const entry = Object.create(found, { path: { value: [verb, found.name] } }) as ToolEntry
  const { path } = entry
  const about = { name: 'toolable', version: registry.version, resources: [], prompts: [] }
  const compiled = async (): Promise<ToolsetManifest> => ({
    ...about,
    tools: [{ ...(await found.definition.compiled()).manifest, path }],
  })
  const sketch = async (): Promise<ToolsetManifest> => {
    const early = found.definition.sketch()
    return early ? { ...about, tools: [{ ...early, path }] } : compiled()
  }
  return Object.create(registry, {
    name: { value: about.name },
    entries: { value: [entry] },
    manifest: { value: compiled },
    sketch: { value: sketch },
    outline: { value: async () => ({ ...about, tools: [found.definition.facts] }) },
  }) as Servable
}
