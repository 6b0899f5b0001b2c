import type { ToolManifest, ToolsetManifest } from '../../contract/manifest.ts'
import { annotationHints } from './annotations.ts'
import { promptEntry, resourceEntry } from './discover.ts'

/** What `<tool> --manifest` prints: the specification's fields first, then ours where there is something to say. */
export function manifestDocument(tool: ToolManifest): object {
  const annotations = annotationHints(tool.annotations)
  return {
    name: tool.name,
    summary: tool.summary,
    description: tool.description ?? '',
    streaming: tool.streaming,
    session_mode: tool.session,
    schema: tool.inputSchema,
    ...(tool.examples.length > 0 && { examples: tool.examples }),
    ...(tool.tags.length > 0 && { tags: tool.tags }),
    ...(tool.outputSchema && { output_schema: tool.outputSchema }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(Object.keys(tool.errors).length > 0 && { errors: tool.errors }),
    ...(tool.timeout !== undefined && { timeout: tool.timeout }),
  }
}

/** What `--manifest` prints for a whole program. */
export function toolsetManifestDocument({
  name,
  version,
  description,
  tools,
  resources,
  prompts,
}: ToolsetManifest): object {
  return {
    name,
    version,
    ...(description !== undefined && { description }),
    tools: tools.map(manifestDocument),
    resources: resources.map(resourceEntry),
    prompts: prompts.map(promptEntry),
  }
}
