import { buildOpenApiDocument } from '../../http/openapi.ts'
import type { ToolsetManifest } from '../../protocol/manifest.ts'
import type { DocKind, DocModel, GeneratedFile } from '../model.ts'
import { getMarkText } from '../model.ts'

/** The HTTP API as an OpenAPI document. */
export const kind: DocKind = { make: ({ manifest, model }) => writeOpenApi(manifest, model) }

/** The HTTP API as an OpenAPI document; an extension of its own carries our mark. */
export function writeOpenApi(manifest: ToolsetManifest, model: DocModel): GeneratedFile[] {
  const { openapi, ...rest } = buildOpenApiDocument(manifest)
  return [
    {
      path: 'openapi.json',
      text: `${JSON.stringify({ openapi, 'x-generated': getMarkText(model, 'openapi'), ...rest }, undefined, 2)}\n`,
    },
  ]
}
