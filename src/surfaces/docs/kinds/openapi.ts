import type { ToolsetManifest } from '../../../contract/manifest.ts'
import { openapiDocument } from '../../http/openapi/document.ts'
import { markText } from '../mark.ts'
import type { DocModel } from '../model/model.ts'
import type { GeneratedFile } from './generated-file.ts'

/** The HTTP API as an OpenAPI document; an extension of its own carries our mark. */
export function writeOpenapi(manifest: ToolsetManifest, model: DocModel): GeneratedFile[] {
  const { openapi, ...rest } = openapiDocument(manifest)
  return [
    {
      path: 'openapi.json',
      text: `${JSON.stringify({ openapi, 'x-generated': markText(model, 'openapi'), ...rest }, undefined, 2)}\n`,
    },
  ]
}
