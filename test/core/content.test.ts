import { describe, expect, test } from 'vitest'
import { call, content, ok, partial, prompt, tool, toolset } from 'toolable'
import type { ContentBlock } from 'toolable'
import { readOutcome } from '../../src/protocol/dialects/read-outcome.ts'

const gives = (given: unknown) =>
  tool({ name: 'gives', summary: 'Gives', run: () => ok(1, { content: given as ContentBlock }) })

describe('[3.content] builders', () => {
  test.each<[string, ContentBlock, object]>([
    ['text', content.text('hi'), { type: 'text', text: 'hi' }],
    [
      'image of bytes',
      content.image(new Uint8Array([0, 255]), 'image/png'),
      { type: 'image', data: 'AP8=', mimeType: 'image/png' },
    ],
    [
      'image of a part of a buffer',
      content.image(new Uint8Array([9, 0, 255, 9]).subarray(1, 3), 'image/png'),
      { type: 'image', data: 'AP8=', mimeType: 'image/png' },
    ],
    [
      'image of base64',
      content.image('AP8=', 'image/png'),
      { type: 'image', data: 'AP8=', mimeType: 'image/png' },
    ],
    [
      'audio',
      content.audio(Buffer.from('x'), 'audio/wav', { audience: ['user'], priority: 1 }),
      {
        type: 'audio',
        data: 'eA==',
        mimeType: 'audio/wav',
        annotations: { audience: ['user'], priority: 1 },
      },
    ],
    [
      'resource of text',
      content.resource('a://b', 'text', 'text/plain'),
      { type: 'resource', resource: { uri: 'a://b', mimeType: 'text/plain', text: 'text' } },
    ],
    [
      'resource of bytes',
      content.resource('a://b', new Uint8Array(1)),
      { type: 'resource', resource: { uri: 'a://b', blob: 'AA==' } },
    ],
    [
      'link',
      content.link('file:///x/a%20b.txt?q#f'),
      { type: 'resource_link', uri: 'file:///x/a%20b.txt?q#f', name: 'a b.txt' },
    ],
    [
      'link with facts',
      content.link('a://', {
        name: 'n',
        title: 't',
        description: 'd',
        mimeType: 'm/n',
        size: 0,
        annotations: { lastModified: '2025-01-01' },
      }),
      {
        type: 'resource_link',
        uri: 'a://',
        name: 'n',
        title: 't',
        description: 'd',
        mimeType: 'm/n',
        size: 0,
        annotations: { lastModified: '2025-01-01' },
      },
    ],
    [
      'link that cannot be decoded',
      content.link('a://%zz'),
      { type: 'resource_link', uri: 'a://%zz', name: '%zz' },
    ],
  ])('%s', async (_what, block, form) => {
    expect(block).toEqual(form)
    expect(await call(gives(block))).toMatchObject({ ok: true, content: [form] })
    expect(Object.keys(await call(gives([block])))).toEqual([
      'ok',
      'status',
      'result',
      'content',
      'meta',
    ])
  })

  test('refuse what is neither bytes nor text', async () => {
    for (const data of [undefined, 5, [1, 2], new ArrayBuffer(1)]) {
      const draws = tool({
        name: 'draws',
        summary: 'Draws',
        run: () => ok(1, { content: content.image(data as never, 'image/png') }),
      })
      expect(await call(draws)).toMatchObject({
        error: { code: 'INTERNAL', message: 'content takes bytes (a Uint8Array) or base64 text' },
      })
    }
  })
})

describe('[3.content] outcomes', () => {
  test('a partial result keeps it, with message and hidden, and the key may stand beside', async () => {
    const some = tool({
      name: 'some',
      summary: 'Some',
      run: () =>
        partial({ a: [1, 2], b: [] }, [{ code: 'NOT_FOUND', message: 'x' }], {
          key: 'b',
          message: 'm',
          hidden: true,
          content: content.text('t'),
        }),
    })
    expect(await call(some)).toMatchObject({ ok: false, summary: { succeeded: 0 } })
    const other = tool({
      name: 'some',
      summary: 'Some',
      run: () =>
        partial({ a: [1] }, [new Error('x')], {
          message: 'm',
          hidden: true,
          content: [content.text('t')],
        }),
    })
    const outcome = await call(other)
    expect(outcome).toMatchObject({
      status: 'partial',
      message: 'm',
      hidden: true,
      content: [{ type: 'text', text: 't' }],
    })
    expect(Object.keys(outcome)).toEqual([
      'ok',
      'status',
      'result',
      'message',
      'hidden',
      'content',
      'errors',
      'summary',
      'meta',
    ])
  })

  test('an empty list is as good as none', async () => {
    expect(await call(gives([]))).not.toHaveProperty('content')
  })

  test('a direct call gives the value alone', async () => {
    await expect(gives(content.text('t'))()).resolves.toBe(1)
  })

  test.each<[string, unknown, string]>([
    ['null', null, 'block 1 is null, not a block'],
    ['a text', 'hello', 'block 1 is string, not a block'],
    ['a list in the list', [[content.text('x')]], 'block 1 is a list, not a block'],
    [
      'no type',
      {},
      'block 1 has the type undefined; types are text, image, audio, resource, resource_link',
    ],
    ['an inherited type', { type: 'constructor' }, 'block 1 has the type "constructor"'],
    ['text without text', { type: 'text', text: 5 }, "block 1 needs a 'text'"],
    [
      'a picture without a kind',
      { type: 'image', data: '' },
      "block 1 needs a 'mimeType' such as image/png",
    ],
    [
      'a picture as a data address',
      { type: 'image', data: 'data:image/png;base64,AAAA', mimeType: 'image/png' },
      "block 1 needs 'data' in base64",
    ],
    [
      'half a byte',
      { type: 'audio', data: 'AAA', mimeType: 'audio/wav' },
      "block 1 needs 'data' in base64",
    ],
    [
      'the second one',
      [content.text('x'), { type: 'audio', data: 5, mimeType: 'audio/wav' }],
      "block 2 needs 'data' in base64",
    ],
    ['a resource without one', { type: 'resource' }, "block 1 needs a 'resource'"],
    [
      'a resource without an address',
      { type: 'resource', resource: { text: 'x' } },
      "block 1 needs a 'uri' in its resource",
    ],
    [
      'a resource with two contents',
      { type: 'resource', resource: { uri: 'a:b', text: 'x', blob: '' } },
      "block 1 needs either a 'text' or a 'blob'",
    ],
    [
      'a resource with none',
      { type: 'resource', resource: { uri: 'a:b' } },
      "block 1 needs either a 'text' or a 'blob'",
    ],
    [
      'a resource of an odd kind',
      { type: 'resource', resource: { uri: 'a:b', text: 'x', mimeType: 5 } },
      "block 1 has a 'mimeType' in its resource that is no text",
    ],
    ['a link without an address', { type: 'resource_link', name: 'x' }, "block 1 needs a 'uri'"],
    ['a link without a name', { type: 'resource_link', uri: 'a:b' }, "block 1 needs a 'name'"],
    [
      'a link of negative size',
      { type: 'resource_link', uri: 'a:b', name: 'x', size: -1 },
      "block 1 has a 'size' that is no number of bytes",
    ],
    [
      'a link with an odd title',
      { type: 'resource_link', uri: 'a:b', name: 'x', title: 5 },
      "block 1 has a 'title' that is no text",
    ],
    [
      'odd annotations',
      { type: 'text', text: '', annotations: [] },
      "block 1 has 'annotations' that are no object",
    ],
    [
      'an unknown audience',
      { type: 'text', text: '', annotations: { audience: ['dog'] } },
      "block 1 has an 'audience' other than user and assistant",
    ],
    [
      'too much priority',
      { type: 'text', text: '', annotations: { priority: 2 } },
      "block 1 has a 'priority' that is not between 0 and 1",
    ],
    [
      'an odd date',
      { type: 'text', text: '', annotations: { lastModified: new Date() } },
      "block 1 has a 'lastModified' that is no text",
    ],
    ['what JSON cannot carry', { type: 'text', text: '', _meta: { n: 5n } }, 'a BigInt'],
  ])('wrong content is INTERNAL: %s', async (_what, given, message) => {
    expect(await call(gives(given))).toMatchObject({
      ok: false,
      error: { code: 'INTERNAL', message: expect.stringContaining(message) },
    })
  })

  test('content of a megabyte is checked in one pass', async () => {
    const data = Buffer.alloc(3_000_000, 7)
    expect(await call(gives(content.image(data, 'image/png')))).toMatchObject({
      ok: true,
      content: [{ data: data.toString('base64') }],
    })
    expect(
      await call(
        gives({ type: 'image', data: `${'='.repeat(3_999_999)}A`, mimeType: 'image/png' }),
      ),
    ).toMatchObject({ error: { code: 'INTERNAL' } })
  })
})

describe('[3.content] messages of prompts', () => {
  const rendered = (given: unknown) =>
    toolset({
      name: 'prog',
      prompts: [
        prompt({
          name: 'p',
          summary: 'P',
          render: () => [{ role: 'user', content: given as string }],
        }),
      ],
    }).renderPrompt('p')

  test('one block stays one, a list a list', async () => {
    const block = content.text('t')
    expect(await rendered(block)).toMatchObject({
      ok: true,
      result: [{ role: 'user', content: block }],
    })
    expect(await rendered([block])).toMatchObject({
      ok: true,
      result: [{ role: 'user', content: [block] }],
    })
    expect(await rendered([])).toMatchObject({ ok: true, result: [{ role: 'user', content: [] }] })
  })

  test('wrong content names the prompt', async () => {
    expect(await rendered({ type: 'image' })).toMatchObject({
      error: {
        code: 'INTERNAL',
        message:
          "prompt 'p' gave content that cannot be shown: block 1 needs a 'mimeType' such as image/png",
      },
    })
    for (const odd of [undefined, null, 5])
      expect(await rendered(odd)).toMatchObject({ ok: false, error: { code: 'INTERNAL' } })
  })
})

describe('[3.content] foreign documents', () => {
  const context = { tool: 'x' }
  const block = { type: 'text', text: 't' }

  test('are read back with their content', () => {
    expect(
      readOutcome({ ok: true, result: 1, message: 'm', content: [block] }, context),
    ).toMatchObject({ status: 'success', result: 1, message: 'm', content: [block] })
    expect(
      readOutcome(
        { status: 'partial', result: [1], content: [block], errors: [{ code: 'X', message: 'x' }] },
        context,
      ),
    ).toMatchObject({ status: 'partial', content: [block] })
    expect(
      readOutcome(
        {
          v: 1,
          type: 'result',
          ts: '',
          run_id: 'r',
          status: 'ok',
          result: 1,
          context: { content: [block] },
        },
        context,
      ),
    ).toMatchObject({ result: 1, content: [block] })
  })

  test('that mean something else by the word stay results', () => {
    for (const other of ['text', [], [{ type: 'video' }], { type: 'text', text: 't' }])
      expect(readOutcome({ ok: true, result: 1, content: other }, context)).toBeUndefined()
    expect(
      readOutcome({ ok: true, result: 1, content: 'text', meta: { tool: 'x' } }, context),
    ).not.toHaveProperty('content')
  })
})
