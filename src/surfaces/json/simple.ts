import type { ToolManifest, ToolsetManifest } from '../../contract/manifest.ts'

/** What `--fractalic-dump-schema` prints for one tool. */
export function simpleSchemaDocument({
  name,
  summary,
  description,
  inputSchema,
}: ToolManifest): object {
  return { name, description: description ?? summary, parameters: inputSchema }
}

/** What `--fractalic-dump-multi-schema` prints: a list, one entry per tool. */
export function simpleSchemasDocument({
  tools,
}: Pick<ToolsetManifest, 'tools'>): readonly object[] {
  return tools.map(simpleSchemaDocument)
}
