import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jsonSchema, prompt, resource, ToolError } from 'toolable'

const argument = (schema: object) =>
  prompt({
    name: 'p',
    summary: 'P',
    arguments: { type: 'object', properties: { a: schema } },
    render: () => '',
  })

describe('[3.completers] arguments of prompts', () => {
  test('are completed by the author, who alone decides', async () => {
    const asked: unknown[] = []
    const p = prompt({
      name: 'p',
      summary: 'P',
      arguments: { language: 'The language', style: 'The style' },
      complete: {
        language: async (value, others) => {
          asked.push(value, others)
          return ['Python', 'zig']
        },
      },
      render: () => '',
    })
    expect(await p.complete('language', 'py', { style: 'short' })).toEqual(['Python', 'zig'])
    expect(await p.complete('language', '')).toEqual(['Python', 'zig'])
    expect(asked).toEqual(['py', { style: 'short' }, '', {}])
    expect(await p.complete('style', '')).toEqual([])
  })

  test.each<[string, object, string, readonly string[]]>([
    ['an enum', { enum: ['Red', 'red-ish', 'blue'] }, 'RE', ['Red', 'red-ish']],
    ['all of an enum', { enum: ['b', 'a', 'b'] }, '', ['b', 'a']],
    ['numbers', { enum: [1, 10, 2, null, { a: 1 }] }, '1', ['1', '10']],
    ['a constant', { const: 'only' }, 'o', ['only']],
    ['a boolean', { type: 'boolean' }, 't', ['true']],
    ['one of several types', { type: ['boolean', 'null'] }, '', ['true', 'false']],
    [
      'examples',
      { type: 'string', examples: ['main', 'master', 5, ['x']] },
      'ma',
      ['main', 'master'],
    ],
    [
      'a union',
      { anyOf: [{ const: 'on' }, { oneOf: [{ enum: ['off', 'only'] }] }, { type: 'null' }] },
      'o',
      ['on', 'off', 'only'],
    ],
    ['free text', { type: 'string' }, '', []],
    ['what begins otherwise', { enum: ['a'] }, 'b', []],
    ['signs of expressions', { enum: ['.*', 'x'] }, '.*', ['.*']],
  ])('complete by themselves: %s', async (_what, schema, value, found) => {
    expect(await argument(schema).complete('a', value)).toEqual(found)
  })

  test('of a library and behind references too', async () => {
    const p = prompt({
      name: 'p',
      summary: 'P',
      arguments: () =>
        z.object({ color: z.enum(['red', 'blue']).optional(), deep: z.boolean().default(true) }),
      render: () => '',
    })
    expect([await p.complete('color', 'b'), await p.complete('deep', 'f')]).toEqual([
      ['blue'],
      ['false'],
    ])
    const referring = prompt({
      name: 'p',
      summary: 'P',
      arguments: {
        type: 'object',
        properties: { a: { $ref: '#/$defs/color' } },
        $defs: { color: { enum: ['red'] } },
      },
      render: () => '',
    })
    expect(await referring.complete('a', 'r')).toEqual(['red'])
  })

  test('unknown arguments complete to nothing, inherited names included', async () => {
    for (const name of ['nosuch', '__proto__', 'constructor', 'toString'])
      expect(await argument({ enum: ['a'] }).complete(name, '')).toEqual([])
    expect(await prompt({ name: 'p', summary: 'P', render: () => '' }).complete('a', '')).toEqual(
      [],
    )
  })

  test('a completer that fails or gives nonsense', async () => {
    const given = (complete: () => unknown) =>
      prompt({
        name: 'p',
        summary: 'P',
        arguments: { a: 'A' },
        complete: { a: complete as never },
        render: () => '',
      })
    await expect(
      given(() => {
        throw new ToolError('DEPENDENCY', 'down')
      }).complete('a', ''),
    ).rejects.toMatchObject({ code: 'DEPENDENCY' })
    for (const odd of [undefined, 'text', [5], { a: 1 }])
      await expect(given(() => odd).complete('a', '')).rejects.toMatchObject({
        code: 'INTERNAL',
        message: "'complete.a' of prompt 'p' must give a list of texts",
      })
  })

  test('a completer of nothing is CONFIG, at once where the arguments are known', async () => {
    const defined = (options: object) => () =>
      prompt({ name: 'p', summary: 'P', render: () => '', ...options })
    expect(defined({ arguments: { language: 'L' }, complete: { langage: () => [] } })).toThrow(
      "'complete.langage' of prompt 'p' completes an argument that does not exist; did you mean 'language'?",
    )
    expect(
      defined({ arguments: { language: 'L', style: 'S' }, complete: { q: () => [] } }),
    ).toThrow('the arguments are language, style')
    expect(defined({ complete: { a: () => [] } })).toThrow(
      "'complete.a' of prompt 'p' completes an argument that does not exist",
    )
    expect(defined({ arguments: { a: 'A' }, complete: { a: ['x'] } })).toThrow(
      "'complete.a' of prompt 'p' must be a function",
    )
    for (const complete of [null, [], () => []])
      expect(defined({ arguments: { a: 'A' }, complete })).toThrow(
        "'complete' of prompt 'p' must be an object of functions",
      )
    const late = prompt({
      name: 'p',
      summary: 'P',
      arguments: z.object({ a: z.string() }),
      complete: { b: () => [] } as never,
      render: () => '',
    })
    await expect(late.manifest()).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringContaining("'complete.b' of prompt 'p'"),
    })
    const composed = jsonSchema<{ a: string }>({
      type: 'object',
      allOf: [{ properties: { a: { enum: ['x'] } } }],
    })
    const both = prompt({
      name: 'p',
      summary: 'P',
      arguments: composed,
      complete: { a: () => ['y'] },
      render: () => '',
    })
    expect(await both.complete('a', '')).toEqual(['y'])
  })
})

describe('[3.completers] placeholders of resources', () => {
  test('are completed by the author, else not at all', async () => {
    const notes = resource({
      uri: 'notes://{folder}/{id}',
      summary: 'N',
      complete: { id: (value, { folder }) => [`${folder}-${value}`] },
      read: () => '',
    })
    expect([
      await notes.complete('id', 'a', { folder: 'f' }),
      await notes.complete('folder', ''),
      await notes.complete('nosuch', ''),
    ]).toEqual([['f-a'], [], []])
  })

  test('a completer of nothing is CONFIG', () => {
    expect(() =>
      resource({
        uri: 'notes://{id}',
        summary: 'N',
        complete: { idd: () => [] } as never,
        read: () => '',
      }),
    ).toThrow("did you mean 'id'?")
    expect(() =>
      resource({
        uri: 'notes://all',
        summary: 'N',
        complete: { id: () => [] } as never,
        read: () => '',
      }),
    ).toThrow('completes an argument that does not exist')
  })
})

describe('[3.reading-context] names and titles', () => {
  test('stand in the manifest where they are given', async () => {
    expect(
      await prompt({ name: 'p', title: 'The P', summary: 'P', render: () => '' }).manifest(),
    ).toEqual({ name: 'p', title: 'The P', summary: 'P', arguments: [], tags: [] })
    expect(
      resource({ uri: 'a://b', name: 'b', title: 'The B', summary: 'B', read: () => '' }).manifest,
    ).toEqual({ uri: 'a://b', name: 'b', title: 'The B', summary: 'B', mimeTypes: [], tags: [] })
    expect(
      await prompt({ name: 'p', summary: 'P', render: () => '' }).manifest(),
    ).not.toHaveProperty('title')
  })

  test('that are empty or misspelt are CONFIG', () => {
    expect(() => prompt({ name: 'p', title: ' ', summary: 'P', render: () => '' })).toThrow(
      "'title' of prompt 'p' must be a text that is not empty",
    )
    expect(() => resource({ uri: 'a://b', name: '', summary: 'B', read: () => '' })).toThrow(
      "'name' of resource 'a://b' must be a text",
    )
    expect(() =>
      resource({ uri: 'a://b', title: 5 as never, summary: 'B', read: () => '' }),
    ).toThrow("'title' of resource 'a://b' must be a text")
    expect(() =>
      prompt({ name: 'p', titel: 'x', summary: 'P', render: () => '' } as never),
    ).toThrow("prompt 'p' has no option 'titel'; did you mean 'title'?")
    expect(() =>
      resource({ uri: 'a://b', mimeType: 'x', summary: 'B', read: () => '' } as never),
    ).toThrow("resource 'a://b' has no option 'mimeType'; did you mean 'mimeTypes'?")
  })
})
