import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { fail, jsonSchema, prompt, resource, toolset } from 'toolable'
import type { ResourceContent } from 'toolable'
import { refusedAtOnce } from '../support/refusal.ts'

const read = (content: () => ResourceContent | Promise<ResourceContent>) =>
  toolset({
    name: 'prog',
    resources: [resource({ uri: 'a://b', summary: 'B', read: content })],
  }).readResource('a://b')

describe('resources', () => {
  test.each<[string, ResourceContent, unknown]>([
    ['text', 'hello', 'hello'],
    ['bytes', new Uint8Array([0, 255]), { mimeType: 'application/octet-stream', blob: 'AP8=' }],
    ['JSON', { a: [1, null] }, { a: [1, null] }],
    ['a number', 5, 5],
    ['null', null, null],
    [
      'typed text',
      { mimeType: 'text/markdown', text: '# Hi' },
      { mimeType: 'text/markdown', text: '# Hi' },
    ],
    [
      'typed bytes',
      { mimeType: 'image/png', blob: Buffer.from('png') },
      { mimeType: 'image/png', blob: 'cG5n' },
    ],
    [
      'typed base64',
      { mimeType: 'image/png', blob: 'cG5n' },
      { mimeType: 'image/png', blob: 'cG5n' },
    ],
  ])('[3.resource-read-forms] %s', async (_what, content, result) => {
    expect(await read(() => content)).toMatchObject({ ok: true, status: 'success', result })
  })

  test('failures of read are values', async () => {
    expect(await read(() => fail('NOT_FOUND', 'no such note'))).toMatchObject({
      ok: false,
      error: { code: 'NOT_FOUND', message: 'no such note' },
    })
    expect(
      await read(() => {
        throw null as unknown
      }),
    ).toMatchObject({ ok: false, error: { code: 'INTERNAL' } })
    expect(await read(async () => Promise.reject(new Error('later')))).toMatchObject({
      ok: false,
      error: { code: 'INTERNAL', message: 'later' },
    })
    expect(await read(() => new Map())).toMatchObject({
      ok: false,
      error: { code: 'INTERNAL', message: expect.stringContaining('a Map') },
    })
    expect(await read(() => ({ a: NaN }))).toMatchObject({
      ok: true,
      result: { a: null },
      meta: { warnings: ['result.a was NaN, which JSON cannot carry; it is null'] },
    })
  })

  test('a read that hangs is ended by the timeout and by the signal', async () => {
    const set = toolset({
      name: 'prog',
      resources: [
        resource({ uri: 'a://b', summary: 'B', read: () => new Promise<string>(() => undefined) }),
      ],
    })
    expect(await set.readResource('a://b', { timeout: '20ms' })).toMatchObject({
      ok: false,
      error: { code: 'TIMEOUT' },
    })
    expect(await set.readResource('a://b', { signal: AbortSignal.abort() })).toMatchObject({
      ok: false,
      error: { code: 'CANCELLED' },
    })
    expect(await set.readResource('a://b', { timeout: 'never' })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', field: 'timeout' },
    })
  })

  test('read gets decoded parameters and the surroundings of the call', async () => {
    const set = toolset({
      name: 'prog',
      resources: [
        resource({
          uri: 'files://{folder}/{name}.txt',
          summary: 'F',
          read: (params, ctx) => ({
            ...params,
            cwd: ctx.cwd,
            home: ctx.env['HOME'] ?? null,
            aborted: ctx.signal.aborted,
          }),
        }),
      ],
    })
    expect(
      await set.readResource('files://a%20b/c.d.txt', { cwd: '/x', env: { HOME: '/h' } }),
    ).toMatchObject({
      ok: true,
      result: { folder: 'a b', name: 'c.d', cwd: '/x', home: '/h', aborted: false },
    })
  })

  test.each([
    ['', /must not be empty/],
    ['a://{', /has no '}'/],
    ['a://}', /has no '{'/],
    ['a://{a}{b}', /need text between them/],
    ['a://{a}/{a}', /stands there twice/],
    ['a://{a-b}', /is not a placeholder/],
    [undefined, /needs an address/],
  ])('the address %j is refused', (uri, words) => {
    const error = refusedAtOnce(() =>
      resource({ uri: uri as string, summary: 's', read: () => null }),
    )
    expect(error.code).toBe('CONFIG')
    expect(error.message).toMatch(words)
  })

  test('summary and read are required', () => {
    expect(
      refusedAtOnce(() => resource({ uri: 'a://b', summary: '', read: () => null })).message,
    ).toContain("resource 'a://b' needs a summary")
    expect(refusedAtOnce(() => resource({ uri: 'a://b', summary: 's' } as never)).message).toBe(
      "resource 'a://b' needs a 'read' function",
    )
  })

  test('[3.uri-linear-time] an address of a megabyte is matched at once', async () => {
    const set = toolset({
      name: 'prog',
      resources: [resource({ uri: 'a://{a}-{b}-{c}-{d}x', summary: 's', read: () => 1 })],
    })
    expect(await set.readResource(`a://${'-a'.repeat(500_000)}`)).toMatchObject({
      ok: false,
      error: { code: 'NOT_FOUND' },
    })
  })
})

describe('prompts', () => {
  const render = (made: ReturnType<typeof prompt>, args?: unknown) =>
    toolset({ name: 'prog', prompts: [made] }).renderPrompt(made.name, args)

  test('[3.prompt-arguments] arguments as a record are all required texts', async () => {
    const made = prompt({
      name: 'p',
      summary: 's',
      arguments: { code: 'The code', style: 'The style' },
      render: ({ code, style }) => `${code}/${style}`,
    })
    expect(await render(made, { code: 'a', style: 'b' })).toMatchObject({ ok: true, result: 'a/b' })
    expect(await render(made, { code: 'a' })).toMatchObject({
      ok: false,
      error: { code: 'MISSING_PARAM', field: 'style' },
    })
    expect(await render(made, { code: 'a', style: 5 })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', field: 'style' },
    })
    expect(await render(made, { code: 'a', style: 'b', other: 'c' })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT' },
    })
    expect((await made.manifest()).arguments).toEqual([
      { name: 'code', description: 'The code', required: true },
      { name: 'style', description: 'The style', required: true },
    ])
  })

  test('[3.prompt-arguments] arguments as a schema have types and defaults', async () => {
    const zod = prompt({
      name: 'p',
      summary: 's',
      arguments: z.object({ count: z.number().default(2) }),
      render: ({ count }) => 'x'.repeat(count),
    })
    expect(await render(zod)).toMatchObject({ ok: true, result: 'xx' })
    expect((await zod.manifest()).arguments).toMatchObject([{ name: 'count', required: false }])
    const plain = prompt({
      name: 'p',
      summary: 's',
      arguments: jsonSchema<{ a: string }>({
        type: 'object',
        properties: { a: { type: 'string' } },
        required: ['a'],
      }),
      render: ({ a }) => a,
    })
    expect(await render(plain, { a: 'x' })).toMatchObject({ ok: true, result: 'x' })
  })

  test('[3.prompt-arguments] render gives messages, later too, and nothing else', async () => {
    const messages = [
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: 'Hi' },
    ] as const
    expect(
      await render(prompt({ name: 'p', summary: 's', render: async () => messages })),
    ).toMatchObject({ ok: true, result: messages })
    for (const wrong of [5, undefined, {}, [{ role: 'user' }], ['text']]) {
      expect(
        await render(prompt({ name: 'p', summary: 's', render: () => wrong as never })),
      ).toMatchObject({
        ok: false,
        error: { code: 'INTERNAL', message: "prompt 'p' rendered neither text nor messages" },
      })
    }
    expect(
      await render(
        prompt({
          name: 'p',
          summary: 's',
          render: () => {
            throw new Error('no')
          },
        }),
      ),
    ).toMatchObject({ ok: false, error: { code: 'INTERNAL', message: 'no' } })
  })

  test('misuse is refused', () => {
    expect(
      refusedAtOnce(() => prompt({ name: 'P!', summary: 's', render: () => '' })).message,
    ).toContain("for example 'p'")
    expect(refusedAtOnce(() => prompt({ name: 'p', summary: 's' } as never)).message).toBe(
      "prompt 'p' needs a 'render' function",
    )
  })
})
