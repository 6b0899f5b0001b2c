import type { JsonObject, JsonSchema } from '../../../contract/json.ts'
import type {
  Example,
  PromptManifest,
  ToolManifest,
  ToolsetManifest,
} from '../../../contract/manifest.ts'
import { inlineRefs } from '../../../define/schema/inline-refs.ts'
import { upgradeKeywords } from '../../../define/schema/upgrade-keywords.ts'
import { annotationHints } from '../../json/annotations.ts'
import { parametersOf } from './parameters.ts'
import { describeOwnErrors, failureResponses } from './responses.ts'
import { successSchema } from './schemas.ts'

/** The operation that calls a tool. */
export function toolOperation(
  tool: ToolManifest,
  { name, version }: ToolsetManifest,
  operationId: string,
  token: boolean,
): JsonObject {
  const description = [tool.description, describeOwnErrors(tool.errors)]
    .filter(Boolean)
    .join('\n\n')
  const annotations = annotationHints(tool.annotations)
  const meta = { tool: `${name}.${tool.name}`, version, duration_ms: 1 }
  return {
    operationId,
    summary: tool.summary,
    ...(description !== '' && { description }),
    ...(tool.tags.length > 0 && { tags: tool.tags }),
    parameters: parametersOf(tool),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: embedded(tool.inputSchema),
          ...examplesOf(tool.examples, ({ input }) => input),
        },
      },
    },
    responses: {
      200: {
        description:
          'The outcome; with `stream`, the events of the call, the last one its outcome.',
        content: {
          'application/json': {
            schema: successSchema(tool.outputSchema && embedded(tool.outputSchema)),
            ...examplesOf(tool.examples, ({ output }) =>
              output === undefined
                ? undefined
                : { ok: true, status: 'success', result: output, meta },
            ),
          },
          'text/event-stream': { schema: { type: 'string' } },
        },
      },
      ...failureResponses(token),
    },
    ...((Object.keys(annotations).length > 0 || tool.streaming || tool.session) && {
      'x-toolable': {
        ...annotations,
        ...(tool.streaming && { streaming: true }),
        ...(tool.session && { session: true }),
      },
    }),
  }
}

/** The operation that renders a prompt. */
export function promptOperation(
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
  return {
    operationId,
    summary: prompt.summary,
    ...(prompt.tags.length > 0 && { tags: prompt.tags }),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { type: 'object', properties, required } } },
    },
    responses: {
      200: {
        description: 'The rendered prompt.',
        content: { 'application/json': { schema: successSchema(undefined) } },
      },
      ...failureResponses(token),
    },
  }
}

/** The operation that lists resources or reads one. */
export function resourceOperation(
  { resources }: ToolsetManifest,
  operationId: string,
  token: boolean,
): JsonObject {
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
        content: {
          'application/json': {
            schema: {
              anyOf: [
                successSchema(undefined),
                {
                  type: 'object',
                  properties: { resources: { type: 'array', items: { type: 'object' } } },
                  required: ['resources'],
                },
              ],
            },
          },
        },
      },
      ...failureResponses(token),
    },
  }
}

// References inside a schema would point into the document around it.
function embedded(schema: JsonSchema): JsonSchema {
  return inlineRefs(upgradeKeywords(schema))
}

function examplesOf(
  examples: readonly Example[],
  value: (example: Example) => unknown,
): JsonObject {
  const shown = examples.flatMap((example, index) => {
    const given = value(example)
    return given === undefined
      ? []
      : [
          [
            `example${index + 1}`,
            {
              ...(example.description !== undefined && { summary: example.description }),
              value: given,
            },
          ] as const,
        ]
  })
  return shown.length === 0 ? {} : { examples: Object.fromEntries(shown) }
}
