import { describe, expect, test } from 'vitest'
import type { ToolManifest } from '../../src/protocol/manifest.ts'
import { toProvider } from '../../src/protocol/providers/export-tools.ts'

const manifest = (
  inputSchema: ToolManifest['inputSchema'],
  more: Partial<ToolManifest> = {},
): ToolManifest => ({
  name: 'find',
  summary: 'Find files',
  tags: [],
  streaming: false,
  session: false,
  inputSchema,
  annotations: {},
  examples: [],
  errors: {},
  positional: [],
  flags: {},
  dryRun: false,
  ...more,
})
const tool = (inputSchema: ToolManifest['inputSchema'], more: Partial<ToolManifest> = {}) => ({
  name: 'find',
  manifest: manifest(inputSchema, more),
})

const FILES = {
  type: 'object',
  properties: {
    pattern: { type: 'string', description: 'A glob', minLength: 1 },
    depth: { type: 'integer', minimum: 0, default: 3 },
    kinds: { type: 'array', items: { enum: ['file', 'folder'] } },
    'max-size': { anyOf: [{ type: 'number' }, { type: 'null' }] },
  },
  required: ['pattern'],
  additionalProperties: false,
} as const

describe('one tool for each provider', () => {
  test('[6.to-openai] OpenAI, chat completions and responses', () => {
    const parameters = {
      type: 'object',
      properties: {
        pattern: { type: 'string', description: 'A glob', minLength: 1 },
        depth: { type: 'integer', minimum: 0, default: 3 },
        kinds: { type: 'array', items: { type: 'string', enum: ['file', 'folder'] } },
        'max-size': { anyOf: [{ type: 'number' }, { type: 'null' }] },
      },
      required: ['pattern'],
      additionalProperties: false,
    }
    expect(toProvider('openai', [tool(FILES)])).toEqual([
      { type: 'function', function: { name: 'find', description: 'Find files', parameters } },
    ])
    expect(toProvider('openai-responses', [tool(FILES)])).toEqual([
      { type: 'function', name: 'find', description: 'Find files', parameters, strict: false },
    ])
  })

  test('[6.to-openai-strict] OpenAI, strict: closed, everything required, what is optional may be null, the rest in words', () => {
    expect(toProvider('openai', [tool(FILES)], { strict: true })).toEqual([
      {
        type: 'function',
        function: {
          name: 'find',
          description: 'Find files',
          strict: true,
          parameters: {
            type: 'object',
            properties: {
              pattern: { type: 'string', description: 'A glob (at least 1 characters)' },
              depth: {
                description: 'Default 3',
                anyOf: [{ type: 'integer', minimum: 0 }, { type: 'null' }],
              },
              kinds: {
                anyOf: [
                  { type: 'array', items: { type: 'string', enum: ['file', 'folder'] } },
                  { type: 'null' },
                ],
              },
              'max-size': { anyOf: [{ type: 'number' }, { type: 'null' }] },
            },
            required: ['pattern', 'depth', 'kinds', 'max-size'],
            additionalProperties: false,
          },
        },
      },
    ])
  })

  test('[6.to-anthropic] Anthropic', () => {
    expect(toProvider('anthropic', [tool(FILES)])).toEqual([
      {
        name: 'find',
        description: 'Find files',
        input_schema: expect.objectContaining({ type: 'object', required: ['pattern'] }) as unknown,
      },
    ])
  })

  test('[6.to-gemini] Gemini, as OpenAPI and as JSON Schema', () => {
    expect(toProvider('gemini', [tool(FILES)])).toEqual({
      functionDeclarations: [
        {
          name: 'find',
          description: 'Find files',
          parameters: {
            type: 'OBJECT',
            properties: {
              pattern: { type: 'STRING', description: 'A glob', minLength: 1 },
              depth: { type: 'INTEGER', description: 'Default 3', minimum: 0 },
              kinds: { type: 'ARRAY', items: { type: 'STRING', enum: ['file', 'folder'] } },
              max_size: { type: 'NUMBER', nullable: true },
            },
            required: ['pattern'],
          },
        },
      ],
    })
    expect(
      toProvider('gemini', [tool(FILES)], { schema: 'json' }).functionDeclarations[0],
    ).toMatchObject({ parametersJsonSchema: { type: 'object', properties: { max_size: {} } } })
    expect(
      toProvider('gemini', [tool({ type: 'object', properties: {}, additionalProperties: false })])
        .functionDeclarations,
    ).toEqual([{ name: 'find', description: 'Find files' }])
  })

  test('[6.to-mcp] MCP', () => {
    expect(
      toProvider('mcp', [
        tool(FILES, {
          title: 'Find',
          description: 'Longer.',
          annotations: { readOnly: true },
          outputSchema: { type: 'object', properties: {} },
        }),
      ]),
    ).toEqual([
      {
        name: 'find',
        title: 'Find',
        description: 'Find files\n\nLonger.',
        inputSchema: FILES,
        outputSchema: { type: 'object', properties: {} },
        annotations: { title: 'Find', readOnlyHint: true },
      },
    ])
  })
})
