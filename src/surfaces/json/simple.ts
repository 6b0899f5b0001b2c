import type { ToolManifest, ToolsetManifest } from '../../contract/manifest.ts'

/** The argument by which Simple JSON tools are found, byte for byte. */
export const SIMPLE_PROBE = '{"__test__": true}'

/** The answer to the probe. */
export function simpleProbeDocument(): object {
  return { success: true, _simple: true }
}

/** What `--fractalic-dump-schema` prints for one tool. */
export function simpleSchemaDocument({ name, summary, description, inputSchema }: ToolManifest): object {
  return { name, description: description ?? summary, parameters: inputSchema }
}

/** What `--fractalic-dump-multi-schema` prints: a list, one entry per tool. */
export function simpleSchemasDocument({ tools }: Pick<ToolsetManifest, 'tools'>): readonly object[] {
  return tools.map(simpleSchemaDocument)
}
