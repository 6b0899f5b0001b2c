import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHandler, fail, partial, registry, tool, toNode, toolset } from 'toolable'
import type { Registry, RegistryOptions } from 'toolable'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { makeFolder } from '../support/run-program.ts'
import { answerJson, bodyOf, listen } from './support/http.ts'
import type { Listening } from './support/http.ts'

const YAML = `
openapi: 3.0.3
info: {title: Shop, version: "2.1"}
servers: [{url: "{place}/v1", variables: {place: {default: PLACE}}}]
security: [{key: []}]
paths:
  /items/{id}:
    parameters:
      - {$ref: "#/components/parameters/Id"}
    get:
      operationId: getItem
      summary: Read an item
      tags: [items]
      parameters:
        - {name: id, in: query, schema: {type: array, items: {type: string}}}
        - {name: fields, in: query, explode: false, schema: {type: array, items: {type: string}}}
        - {name: filter, in: query, style: deepObject, schema: {type: object, additionalProperties: {type: string}}}
        - {name: X-Trace, in: header, schema: {type: string}}
        - {name: X-Api-Key, in: header, schema: {type: string}}
        - {name: Authorization, in: header, schema: {type: string}}
        - {name: mode, in: cookie, schema: {type: string}}
    delete: {responses: {}}
    put:
      deprecated: true
      description: Replace an item
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Item"}}}}
  /items:
    post:
      operationId: addItem
      requestBody: {content: {application/json: {schema: {type: array, items: {$ref: "#/components/schemas/Item"}}}}}
  /form:
    post:
      requestBody: {required: true, content: {application/x-www-form-urlencoded: {schema: {type: object, properties: {a: {type: string}, b: {type: array, items: {type: integer}}}}}}}
  /remote:
    get:
      parameters: [{name: q, in: query, schema: {$ref: "http://127.0.0.1:PORT/schema.json"}}]
  /xml:
    post: {requestBody: {content: {application/xml: {}}}}
  /status/{code}/{kind}:
    get: {operationId: status}
components:
  parameters: {Id: {name: id, in: path, required: true, schema: {type: string}}}
  securitySchemes: {key: {type: apiKey, in: header, name: X-Api-Key}}
  schemas:
    Item:
      type: object
      required: [name, id]
      properties:
        id: {type: integer, readOnly: true}
        name: {type: string, nullable: true}
        price: {type: number, minimum: 0, exclusiveMinimum: true}
        parent: {$ref: "#/components/schemas/Item"}
`

type Seen = {
  readonly method: string
  readonly url: string
  readonly headers: { readonly [name: string]: unknown }
  readonly body: string
}

describe('[6.openapi] an API by its document', () => {
  let server: Listening
  let reg: Registry
  const seen: Seen[] = []
  const folder = makeFolder()
  const open = (options: RegistryOptions): Promise<Registry> =>
    registry({ cwd: folder, env: { KEY: 'k1' }, cache: false, ...options })
  beforeAll(async () => {
    server = await listen(async (request, response) => {
      const { method = '', url = '', headers } = request
      seen.push({ method, url, headers, body: await bodyOf(request) })
      const [, , , code, kind] = url.split('/')
      if (url.startsWith('/v1/status/') && kind === 'picture')
        return void response
          .writeHead(200, { 'content-type': 'image/png' })
          .end(Buffer.from([1, 2, 3]))
      if (url.startsWith('/v1/status/'))
        return answerJson(response, { title: `because ${kind}` }, Number(code))
      return method === 'DELETE'
        ? void response.writeHead(204).end()
        : answerJson(response, { got: url })
    })
    writeFileSync(
      join(folder, 'shop.yaml'),
      YAML.replace('PLACE', server.url).replace('PORT', new URL(server.url).port),
    )
    reg = await open({ openapi: [{ document: 'shop.yaml', headers: { 'X-Api-Key': '${KEY}' } }] })
  })
  afterAll(async () => {
    await reg.close()
    await server.stop()
  })
  const last = (): Seen => seen.at(-1)!

  test('each operation is a tool, with a name that stays', async () => {
    expect(reg.list().map(({ id }) => id)).toEqual([
      'shop.get_item',
      'shop.put_items_by_id',
      'shop.delete_items_by_id',
      'shop.add_item',
      'shop.post_form',
      'shop.get_remote',
      'shop.status',
    ])
    expect(await reg.describe('get_item')).toMatchObject({
      kind: 'openapi',
      tags: ['items'],
      original_name: 'getItem',
      manifest: { annotations: { readOnly: true, idempotent: true, openWorld: true } },
    })
    expect((await reg.describe('delete_items_by_id')).manifest.annotations).toEqual({
      readOnly: false,
      destructive: true,
      idempotent: true,
      openWorld: true,
    })
    expect((await reg.describe('put_items_by_id')).manifest).toMatchObject({
      description: expect.stringContaining('Deprecated'),
      annotations: { idempotent: true },
    })
  })

  test('what cannot be one is told, and what a reference means elsewhere is never fetched', async () => {
    expect(reg.problems()).toMatchObject([
      {
        reason: 'reference',
        message: expect.stringContaining('is not fetched'),
        severity: 'warning',
      },
      { reason: 'unsupported', message: expect.stringContaining('POST /xml') },
    ])
    expect(await reg.call('get_remote', { q: 'x' })).toMatchObject({ ok: true })
    expect(seen.filter(({ url }) => url.includes('schema.json'))).toEqual([])
  })

  test('parameters go where they belong; the key comes from the configuration and from nowhere else', async () => {
    const { input } = await reg.schema('get_item')
    expect(Object.keys(input['properties'] as object)).toEqual([
      'id',
      'id_query',
      'fields',
      'filter',
      'X-Trace',
      'mode',
    ])
    expect(
      await reg.call('get_item', {
        id: 'a/b ?#%',
        id_query: ['x', 'y&z'],
        fields: ['p', 'q'],
        filter: { color: 'red' },
        'X-Trace': 't1',
        mode: 'dark; evil=1',
      }),
    ).toMatchObject({ ok: true })
    expect(last()).toMatchObject({
      method: 'GET',
      url: '/v1/items/a%2Fb%20%3F%23%25?id=x&id=y%26z&fields=p%2Cq&filter%5Bcolor%5D=red',
      headers: { 'x-trace': 't1', 'x-api-key': 'k1', cookie: 'mode=dark%3B%20evil%3D1' },
    })
    expect(await reg.call('get_item', { id: 'a', 'X-Api-Key': 'mine' })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT' },
    })
    expect(await reg.call('get_item', { id: 'a', 'X-Trace': 'a\r\nX-Evil: 1' })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', field: 'X-Trace' },
    })
  })

  test.each(['..', '.', '', '../../admin', 'a/../../admin', '..\\admin', 'x\0'])(
    '[6.openapi-paths] no value leads a request elsewhere: %j',
    async (id) => {
      const before = seen.length
      expect(await reg.call('get_item', { id })).toMatchObject({
        ok: false,
        error: { code: 'INVALID_INPUT', field: 'id' },
      })
      expect(seen).toHaveLength(before)
    },
  )

  test.each([
    ['%2e%2e%2f', '/v1/items/%252e%252e%252f'],
    ['..;/x', '/v1/items/..%3B%2Fx'],
    ['@evil.example', '/v1/items/%40evil.example'],
    ['//evil.example', '/v1/items/%2F%2Fevil.example'],
  ])('[6.openapi-paths] %j stays one step', async (id, url) => {
    expect(await reg.call('get_item', { id })).toMatchObject({ ok: true })
    expect(last().url).toBe(url)
  })

  test('bodies: fields beside the parameters, a body of its own, a form', async () => {
    const { input } = await reg.schema('put_items_by_id')
    expect(input).toMatchObject({
      required: ['id', 'name'],
      properties: { name: { type: ['string', 'null'] }, price: { exclusiveMinimum: 0 } },
    })
    expect(
      await reg.call('put_items_by_id', { id: '7', name: 'pen', parent: { name: null } }),
    ).toMatchObject({ ok: true })
    expect(last()).toMatchObject({
      method: 'PUT',
      url: '/v1/items/7',
      body: '{"name":"pen","parent":{"name":null}}',
      headers: { 'content-type': 'application/json' },
    })
    expect(await reg.call('put_items_by_id', { id: '7', name: 'pen', price: 0 })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', field: 'price' },
    })
    expect(await reg.call('add_item', { body: [{ name: 'a' }] })).toMatchObject({ ok: true })
    expect(last()).toMatchObject({ method: 'POST', body: '[{"name":"a"}]' })
    expect(await reg.call('add_item', {})).toMatchObject({ ok: true })
    expect(last().body).toBe('')
    expect(await reg.call('post_form', { a: 'x y', b: [1, 2] })).toMatchObject({ ok: true })
    expect(last()).toMatchObject({
      body: 'a=x+y&b=1&b=2',
      headers: { 'content-type': expect.stringContaining('application/x-www-form-urlencoded') },
    })
    expect(await reg.call('delete_items_by_id', { id: '7' })).toMatchObject({
      ok: true,
      result: null,
    })
  })

  test.each([
    [404, 'NOT_FOUND'],
    [400, 'INVALID_INPUT'],
    [403, 'PERMISSION'],
    [409, 'CONFLICT'],
    [429, 'RATE_LIMIT'],
    [500, 'DEPENDENCY'],
  ])('status %i is %s, with the words of the API', async (code, expected) => {
    expect(await reg.call('status', { code: String(code), kind: 'why' })).toMatchObject({
      ok: false,
      error: {
        code: expected,
        message: expect.stringContaining('because why'),
        details: { status: code },
      },
    })
  })

  test('pictures are content; who may not call is told how to give the key', async () => {
    expect(await reg.call('status', { code: '200', kind: 'picture' })).toMatchObject({
      ok: true,
      result: null,
      content: [{ type: 'image', data: 'AQID', mimeType: 'image/png' }],
    })
    expect(await reg.call('status', { code: '401', kind: 'x' })).toMatchObject({
      ok: false,
      error: { suggestion: { fix: expect.stringContaining("headers: { 'X-Api-Key'") } },
    })
  })

  test('a document that cannot be used is told, and one from the web does not decide where calls go', async () => {
    const shop = {
      openapi: '3.1.0',
      info: { title: 'Evil' },
      servers: [{ url: 'http://127.0.0.2/x' }],
      paths: { '/a': { get: {} } },
    }
    const place = await listen((_request, response) => answerJson(response, shop))
    writeFileSync(
      join(folder, 'bomb.yaml'),
      `openapi: 3.1.0\na: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefgh'].map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefg'[index]}`).join(',')}]`).join('\n')}\n`,
    )
    writeFileSync(join(folder, 'half.json'), '{"openapi":')
    const other = await open({
      openapi: [
        'none.yaml',
        'bomb.yaml',
        'half.json',
        { swagger: '2.0', openapi: 'no' },
        { ...shop, servers: [] },
        `${place.url}/doc`,
        { document: `${place.url}/doc`, baseUrl: server.url, name: 'trusted' },
      ],
    })
    expect(other.problems().map(({ message }) => message)).toEqual([
      expect.stringContaining('ENOENT'),
      expect.stringContaining('neither JSON nor YAML'),
      expect.stringContaining('no JSON'),
      expect.stringContaining('Swagger 2.0'),
      expect.stringContaining('does not say where its API is'),
      expect.stringContaining('says that its API is at http://127.0.0.2'),
    ])
    expect(other.list().map(({ id }) => id)).toEqual(['trusted.get_a'])
    expect(await other.call('get_a')).toMatchObject({ ok: true, result: { got: '/a' } })
    await other.close()
    await place.stop()
  })

  test('[6.openapi-own] a toolable server by its own document keeps outcomes whole', async () => {
    const own = toolset({
      name: 'own',
      version: '3.0.0',
      tools: [
        tool({
          name: 'add',
          summary: 'Add',
          input: z.object({ a: z.number(), b: z.number().default(1) }),
          output: z.number(),
          annotations: { readOnly: true },
          run: ({ a, b }) => a + b,
        }),
        tool({
          name: 'no',
          summary: 'Fail',
          errors: { E3101: { category: 'state', message: 'nothing there', retryable: true } },
          run: () => fail('E3101'),
        }),
        tool({
          name: 'half',
          summary: 'Half',
          run: () => partial({ done: [1] }, [{ code: 'NOT_FOUND', message: 'two' }]),
        }),
        tool({
          name: 'drop',
          summary: 'Destroy',
          annotations: { destructive: true },
          run: (_input, ctx) => ctx.caller ?? 'nobody',
        }),
      ],
    })
    const place = await listen(toNode(createHandler(own, { token: 'secret-token' })))
    const other = await open({
      openapi: [
        {
          document: `${place.url}/openapi.json`,
          name: 'own',
          headers: { authorization: 'Bearer secret-token' },
        },
      ],
    })
    expect(other.problems()).toEqual([])
    expect((await other.describe('add')).manifest).toMatchObject({
      inputSchema: {
        properties: { a: { type: 'number' }, b: { default: 1 } },
        required: ['a'],
        additionalProperties: false,
      },
      annotations: { readOnly: true },
    })
    expect(await other.call('add', { a: 2 })).toMatchObject({
      ok: true,
      result: 3,
      meta: { tool: 'own.add', version: '3.0.0' },
    })
    expect(await other.call('no')).toMatchObject({
      ok: false,
      error: { code: 'E3101', category: 'state', message: 'nothing there', retryable: true },
    })
    expect(await other.call('half')).toMatchObject({
      ok: true,
      status: 'partial',
      result: { done: [1] },
      errors: [{ code: 'NOT_FOUND', message: 'two' }],
    })
    expect(await other.call('drop', {}, { caller: 'tester' })).toMatchObject({
      ok: true,
      result: 'tester',
    })
    expect(await other.call('drop', {}, { confirm: false })).toMatchObject({
      ok: false,
      error: { code: 'CONFIRMATION_REQUIRED' },
    })
    await other.close()
    await place.stop()
  })
})
