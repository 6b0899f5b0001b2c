import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { createHandler, jsonSchema, tool, toolset } from 'toolable'
import type { Toolset } from 'toolable'
import { buildOpenApiDocument } from '../../src/http/openapi.ts'
import { loadSet, post } from './support/doors.ts'

type Document = { [key: string]: any }

async function documentOf(set: Toolset, token?: string): Promise<Document> {
  const handler = createHandler(set, token === undefined ? {} : { token })
  return (await (
    await handler(
      new Request('http://localhost/openapi.json', {
        headers: { authorization: `Bearer ${token}` },
      }),
    )
  ).json()) as Document
}

async function problemsOf(document: Document): Promise<unknown> {
  const { valid, errors } = await new Validator().validate(structuredClone(document))
  return valid ? undefined : errors
}

const set = await loadSet()
const parity = await loadSet('parity.mjs')
const odd = toolset({
  name: 'odd',
  tools: [
    tool({
      name: 'tree',
      summary: 'Recursive',
      input: {
        type: 'object',
        properties: { root: { $ref: '#/$defs/node' } },
        $defs: {
          node: {
            type: 'object',
            properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } },
          },
        },
      },
    }),
    tool({
      name: 'old',
      summary: 'An old draft',
      input: jsonSchema({
        $schema: 'http://json-schema.org/draft-07/schema#',
        $id: 'https://x.example/old',
        type: 'object',
        properties: { pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] } },
      }),
    }),
    tool({
      name: 'nullable',
      summary: 'Null',
      input: { type: 'object', properties: { a: { type: ['string', 'null'], default: null } } },
      output: { type: 'boolean' },
      examples: [{ input: { a: null }, output: false }],
    }),
    tool({
      name: 'read_resource',
      summary: 'Named like an operation of ours',
      annotations: { destructive: true, idempotent: true },
      tags: ['a', 'b'],
    }),
  ],
})

describe('[10.http-openapi] the document', () => {
  test.each([
    ['of a toolset', set],
    ['of many kinds of tools', parity],
    ['of odd schemas', odd],
    ['of no tools', toolset({ name: 'nothing' })],
  ] as [string, Toolset][])(
    '%s is valid OpenAPI 3.1, with and without a token',
    async (_what, each) => {
      expect(await problemsOf(await documentOf(each))).toBeUndefined()
      expect(await problemsOf(await documentOf(each, 'secret'))).toBeUndefined()
    },
  )

  test('the validator would see a fault', async () => {
    const document = await documentOf(set)
    expect(
      await problemsOf({ ...document, paths: { '/x': { post: { operationId: 5 } } } }),
    ).toBeDefined()
  })

  test('has an operation for every tool', async () => {
    const { openapi, jsonSchemaDialect, info, servers, tags, paths, components, security } =
      await documentOf(set)
    expect([openapi, jsonSchemaDialect, info, servers, tags]).toEqual([
      '3.1.1',
      'https://json-schema.org/draft/2020-12/schema',
      { title: 'over-http', version: '2.0.0', description: 'Tools over HTTP' },
      [{ url: './' }],
      [{ name: 'words' }],
    ])
    expect(Object.keys(paths)).toEqual([
      ...set.entries.map(({ name }) => `/tools/${name}`),
      '/prompts/greet',
      '/resources',
    ])
    const { post: operation } = paths['/tools/say_it']
    expect(operation).toMatchObject({
      operationId: 'say_it',
      summary: 'Say it again',
      tags: ['words'],
      description: expect.stringContaining('`E3101` (409): Lost for words'),
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { properties: { text: { type: 'string' } }, required: ['text'] },
            examples: { example1: { summary: 'Hello', value: { text: 'hello' } } },
          },
        },
      },
    })
    expect(operation.responses['200'].content['application/json']).toMatchObject({
      schema: { properties: { result: { properties: { said: { type: 'string' } } } } },
      examples: { example1: { value: { ok: true, result: { said: 'hello' } } } },
    })
    expect(Object.keys(operation.responses)).toEqual([
      '200',
      '400',
      '403',
      '404',
      '405',
      '409',
      '412',
      '413',
      '415',
      '429',
      '499',
      '500',
      '502',
      '503',
      '504',
      '507',
    ])
    expect(components.responses.Failure404.description).toContain('`NOT_FOUND`')
    expect([components.securitySchemes, security]).toEqual([undefined, undefined])
  })

  test('says what a token is needed for, and which calls need a consent', async () => {
    const { security, components, paths } = await documentOf(set, 'secret')
    expect([security, components.securitySchemes]).toEqual([
      [{ token: [] }],
      { token: { type: 'http', scheme: 'bearer' } },
    ])
    expect(paths['/tools/who'].post.responses['401']).toEqual({
      $ref: '#/components/responses/Failure401',
    })
    const consents = Object.entries<Document>(paths)
      .filter(([, { post: operation }]) =>
        operation?.parameters?.some(
          ({ $ref }: { $ref?: string }) => $ref === '#/components/parameters/Confirm',
        ),
      )
      .map(([path]) => path)
    expect(consents).toEqual(['/tools/deletes'])
    expect(paths['/tools/ticks'].post['x-toolable']).toEqual({ streaming: true })
  })

  test('gives unique ids, and tools keep their names', async () => {
    const withResource = toolset({
      name: 'odd',
      tools: [
        tool({ name: 'read_resource', summary: 'x' }),
        tool({ name: 'prompt_greet', summary: 'x' }),
      ],
      resources: set.resources,
      prompts: set.prompts,
    })
    const { paths } = await documentOf(withResource)
    const ids = Object.values<Document>(paths)
      .flatMap((path) => Object.values<Document>(path))
      .map(({ operationId }) => operationId as string)
    expect(ids).toEqual(['read_resource', 'prompt_greet', 'prompt_greet_', 'read_resource_'])
  })

  test('leaves no reference that points into the wrong document', async () => {
    const text = JSON.stringify((await documentOf(odd)).paths)
    expect(text).not.toMatch(/\$defs|\$id|draft-07/)
    expect(
      [...text.matchAll(/"\$ref":"([^"]*)"/g)].every(([, reference]) =>
        reference!.startsWith('#/components/'),
      ),
    ).toBe(true)
  })

  test('is pure, and takes another address', async () => {
    const manifest = await set.manifest()
    expect(buildOpenApiDocument(manifest)).toEqual(buildOpenApiDocument(manifest))
    expect(
      buildOpenApiDocument(manifest, { serverUrl: 'https://tools.example/api' }),
    ).toMatchObject({ servers: [{ url: 'https://tools.example/api' }] })
  })

  test.each([
    ['success', 'say_it', { text: 'a' }, 200],
    ['failure', 'say_it', {}, 400],
    ['confirmation', 'deletes', { text: 'x' }, 403],
    ['unknown result', 'who', {}, 200],
  ] as [string, string, object, number][])(
    'describes what is really answered: %s',
    async (_what, name, input, status) => {
      const document = await documentOf(set)
      const handler = createHandler(set)
      const answer = await handler(new Request(`http://localhost/tools/${name}`, post(input)))
      expect(answer.status).toBe(status)
      const response = document['paths'][`/tools/${name}`].post.responses[status]
      const { schema } = (
        response.$ref === undefined
          ? response
          : document['components'].responses[response.$ref.split('/').at(-1)]
      ).content['application/json']
      const validate = new Ajv2020({ strict: false })
        .addSchema({ $id: 'https://x.example/', components: document['components'] })
        .compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"https://x.example/#/')))
      expect([validate(await answer.json()), validate.errors]).toEqual([true, null])
    },
  )
})
