import type { ToolManifest, ToolsetManifest } from '../../contract/manifest.ts'
import { annotationHints } from './annotations.ts'

/** What `<tool> --schema` prints: input and output JSON Schema with all that a model needs to choose the tool. */
export function schemaDocument(tool: ToolManifest): object {
  return {
    name: tool.name,
    ...(tool.title !== undefined && { title: tool.title }),
    description: tool.description ?? tool.summary,
    input_schema: tool.inputSchema,
    ...(tool.outputSchema && { output_schema: tool.outputSchema }),
    annotations: annotationHints(tool.annotations),
    examples: tool.examples,
  }
}

/** What `--schema` prints for a whole program. */
export function toolsetSchemaDocument({ name, version, tools }: ToolsetManifest): object {
  return { name, version, tools: tools.map(schemaDocument) }
}
