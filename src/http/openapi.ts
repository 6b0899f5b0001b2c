/**
 * The HTTP API of a toolset as an OpenAPI 3.1 document.
 */

import { inlineRefs, upgradeKeywords } from '../define/schema/publish.ts'
import type {
  Example,
  PromptManifest,
  ToolManifest,
  ToolMetadata,
  ToolsetManifest,
} from '../protocol/manifest.ts'
import { toAnnotationHints } from '../protocol/manifest.ts'
import type { JsonObject, JsonSchema } from '../util/values.ts'
import { compact } from '../util/values.ts'
import {
  buildFailureResponses,
  buildSharedResponses,
  buildSuccessSchema,
  describeOwnErrors,
  SHARED_SCHEMAS,
} from './openapi-schemas.ts'

export type OpenApiDocumentOptions = {
  /** Where the API is served; default: where the document is. */
  readonly serverUrl?: string
  /** The server wants a bearer token. */
  readonly token?: boolean
}

/** The HTTP API of a toolset as OpenAPI 3.1. Pure: the same manifest gives the same document. */
export function buildOpenApiDocument(
  manifest: ToolsetManifest,
  { serverUrl = './', token = false }: OpenApiDocumentOptions = {},
): JsonObject {
  const { name, version, description, tools, resources, prompts } = manifest
  const tags = [...new Set([...tools, ...prompts].flatMap((item) => item.tags))]
  return compact({
    openapi: '3.1.1',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: compact({ title: name, version, description }),
    servers: [{ url: serverUrl }],
    tags: tags.length > 0 ? tags.map((tag) => ({ name: tag })) : undefined,
    paths: buildPaths(manifest, resources.length > 0, token),
    components: compact({
      schemas: SHARED_SCHEMAS,
      parameters: SHARED_PARAMETERS,
      responses: buildSharedResponses(token),
      securitySchemes: token ? { token: { type: 'http', scheme: 'bearer' } } : undefined,
    }),
    security: token ? [{ token: [] }] : undefined,
  })
}

function buildPaths(manifest: ToolsetManifest, hasResources: boolean, token: boolean): JsonObject {
  const idOf = createIdAllocator(manifest.tools.map(({ name }) => name))
  return {
    ...Object.fromEntries(
      manifest.tools.map((tool) => [
        `/tools/${tool.name}`,
        { post: buildToolOperation(tool, manifest, tool.name, token) },
      ]),
    ),
    ...Object.fromEntries(
      manifest.prompts.map((prompt) => [
        `/prompts/${prompt.name}`,
        { post: buildPromptOperation(prompt, idOf(`prompt_${prompt.name}`), token) },
      ]),
    ),
    ...compact({
      '/resources': hasResources
        ? { get: buildResourceOperation(manifest, idOf('read_resource'), token) }
        : undefined,
    }),
  }
}

// Tools keep their names; what else there is gives way.
function createIdAllocator(names: readonly string[]): (wanted: string) => string {
  const taken = new Set(names)
  return (wanted) => {
    let id = wanted
    while (taken.has(id)) id += '_'
    taken.add(id)
    return id
  }
}

/** The operation that calls a tool. */
function buildToolOperation(
  tool: ToolManifest,
  { name, version }: ToolsetManifest,
  operationId: string,
  token: boolean,
): JsonObject {
  const description = [tool.description, describeOwnErrors(tool.errors)]
    .filter(Boolean)
    .join('\n\n')
  const facts = compact({
    ...toAnnotationHints(tool.annotations),
    streaming: tool.streaming || undefined,
    session: tool.session || undefined,
  })
  const meta = { tool: `${name}.${tool.name}`, version, duration_ms: 1 }
  return compact({
    operationId,
    summary: tool.summary,
    description: description !== '' ? description : undefined,
    tags: tool.tags.length > 0 ? tool.tags : undefined,
    parameters: listParameters(tool),
    requestBody: {
      required: true,
      content: toJsonContent(
        embedSchema(tool.inputSchema),
        buildExamples(tool.examples, ({ input }) => input),
      ),
    },
    responses: {
      200: {
        description:
          'The outcome; with `stream`, the events of the call, the last one its outcome.',
        content: {
          ...toJsonContent(
            buildSuccessSchema(tool.outputSchema && embedSchema(tool.outputSchema)),
            buildExamples(tool.examples, ({ output: result }) =>
              result === undefined ? undefined : { ok: true, status: 'success', result, meta },
            ),
          ),
          'text/event-stream': { schema: { type: 'string' } },
        },
      },
      ...buildFailureResponses(token),
    },
    'x-toolable': Object.keys(facts).length > 0 ? facts : undefined,
  })
}

function toJsonContent(schema: JsonSchema, more?: JsonObject): JsonObject {
  return { 'application/json': { schema, ...more } }
}

/** The operation that renders a prompt. */
function buildPromptOperation(
  prompt: PromptManifest,
  operationId: string,
  token: boolean,
): JsonObject {
  const properties = Object.fromEntries(
    prompt.arguments.map(({ name, description }) => [
      name,
      description === undefined ? {} : { description },
    ]),
  )
  const required = prompt.arguments.filter((argument) => argument.required).map(({ name }) => name)
  return compact({
    operationId,
    summary: prompt.summary,
    tags: prompt.tags.length > 0 ? prompt.tags : undefined,
    requestBody: {
      required: true,
      content: toJsonContent({ type: 'object', properties, required }),
    },
    responses: {
      200: {
        description: 'The rendered prompt.',
        content: toJsonContent(buildSuccessSchema(undefined)),
      },
      ...buildFailureResponses(token),
    },
  })
}

/** The operation that lists resources or reads one. */
function buildResourceOperation(
  { resources }: ToolsetManifest,
  operationId: string,
  token: boolean,
): JsonObject {
  const list = {
    type: 'object',
    properties: { resources: { type: 'array', items: { type: 'object' } } },
    required: ['resources'],
  }
  return {
    operationId,
    summary: 'Read a resource, or list them',
    description: resources.map(({ uri, summary }) => `- \`${uri}\`: ${summary}`).join('\n'),
    parameters: [
      {
        name: 'uri',
        in: 'query',
        description: 'The address of one resource; without it the list.',
        schema: { type: 'string' },
      },
    ],
    responses: {
      200: {
        description: 'The contents in an envelope, or the list.',
        content: toJsonContent({ anyOf: [buildSuccessSchema(undefined), list] }),
      },
      ...buildFailureResponses(token),
    },
  }
}

// References inside a schema would point into the document around it.
function embedSchema(schema: JsonSchema): JsonSchema {
  return inlineRefs(upgradeKeywords(schema))
}

function buildExamples(
  examples: readonly Example[],
  value: (example: Example) => unknown,
): JsonObject {
  const shown = examples.flatMap((example, index) => {
    const given = value(example)
    return given === undefined
      ? []
      : [[`example${index + 1}`, compact({ summary: example.description, value: given })] as const]
  })
  return shown.length === 0 ? {} : { examples: Object.fromEntries(shown) }
}

const YES_NO_SCHEMA = { type: 'string', enum: ['yes', 'no'], default: 'no' } as const

/** Headers and query parameters that calls share. */
const SHARED_PARAMETERS = {
  Confirm: {
    name: 'Toolable-Confirm',
    in: 'header',
    description: 'Consent to a destructive tool.',
    schema: YES_NO_SCHEMA,
  },
  DryRun: {
    name: 'Toolable-Dry-Run',
    in: 'header',
    description: 'Plan instead of act; the result is then the plan.',
    schema: YES_NO_SCHEMA,
  },
  Timeout: {
    name: 'Toolable-Timeout',
    in: 'header',
    description: 'Longest time the call may take: seconds, or a number with ms, s, m or h.',
    schema: { type: 'string', examples: ['30s'] },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'Repeats with the same key and input get the first answer for 24 hours.',
    schema: { type: 'string', maxLength: 255 },
  },
  Caller: {
    name: 'Toolable-Caller',
    in: 'header',
    description: 'Who calls, for the record.',
    schema: { type: 'string', maxLength: 100 },
  },
  Stream: {
    name: 'stream',
    in: 'query',
    description: 'Answer with server-sent events, as `Accept: text/event-stream` does.',
    schema: { type: 'boolean', default: false },
  },
} as const satisfies { readonly [name: string]: JsonObject }

/** References to the parameters that make sense for a tool. */
function listParameters({ annotations }: Pick<ToolMetadata, 'annotations'>): readonly JsonObject[] {
  const { Confirm: _confirm, ...common } = SHARED_PARAMETERS
  return Object.keys(annotations.destructive ? SHARED_PARAMETERS : common).map((name) => ({
    $ref: `#/components/parameters/${name}`,
  }))
}
