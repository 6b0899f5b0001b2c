import type { JsonObject } from '../../../contract/json.ts'
import type { ToolsetManifest } from '../../../contract/manifest.ts'
import { promptOperation, resourceOperation, toolOperation } from './operation.ts'
import { SHARED_PARAMETERS } from './parameters.ts'
import { sharedResponses } from './responses.ts'
import { SHARED_SCHEMAS } from './schemas.ts'

export type OpenapiOptions = {
  /** Where the API is served; default: where the document is. */
  readonly serverUrl?: string
  /** The server wants a bearer token. */
  readonly token?: boolean
}

/** The HTTP API of a toolset as OpenAPI 3.1. Pure: the same manifest gives the same document. */
export function openapiDocument(
  manifest: ToolsetManifest,
  { serverUrl = './', token = false }: OpenapiOptions = {},
): JsonObject {
  const { name, version, description, tools, resources, prompts } = manifest
  const tags = [...new Set([...tools, ...prompts].flatMap((item) => item.tags))]
  return {
    openapi: '3.1.1',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: { title: name, version, ...(description !== undefined && { description }) },
    servers: [{ url: serverUrl }],
    ...(tags.length > 0 && { tags: tags.map((tag) => ({ name: tag })) }),
    paths: pathsOf(manifest, resources.length > 0, token),
    components: {
      schemas: SHARED_SCHEMAS,
      parameters: SHARED_PARAMETERS,
      responses: sharedResponses(token),
      ...(token && { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } }),
    },
    ...(token && { security: [{ token: [] }] }),
  }
}

function pathsOf(manifest: ToolsetManifest, hasResources: boolean, token: boolean): JsonObject {
  const idOf = uniqueIds(manifest.tools.map(({ name }) => name))
  return {
    ...Object.fromEntries(
      manifest.tools.map((tool) => [
        `/tools/${tool.name}`,
        { post: toolOperation(tool, manifest, tool.name, token) },
      ]),
    ),
    ...Object.fromEntries(
      manifest.prompts.map((prompt) => [
        `/prompts/${prompt.name}`,
        { post: promptOperation(prompt, idOf(`prompt_${prompt.name}`), token) },
      ]),
    ),
    ...(hasResources && {
      '/resources': { get: resourceOperation(manifest, idOf('read_resource'), token) },
    }),
  }
}

// Tools keep their names; what else there is gives way.
function uniqueIds(names: readonly string[]): (wanted: string) => string {
  const taken = new Set(names)
  return (wanted) => {
    let id = wanted
    while (taken.has(id)) id += '_'
    taken.add(id)
    return id
  }
}
