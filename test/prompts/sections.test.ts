import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createState, jsonSchema, section, sections, tool, ToolError } from 'toolable'
import type { Section } from 'toolable'

const noop = (name: string) => tool({ name, summary: name, run: () => name })

function failureOf(run: () => unknown): ToolError {
  try {
    run()
  } catch (error) {
    if (ToolError.is(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

async function rejectionOf(promise: Promise<unknown>): Promise<ToolError> {
  return promise.then(
    () => {
      throw new Error('nothing was thrown')
    },
    (error: unknown) => error as ToolError,
  )
}

describe('text', () => {
  const prompt = sections({
    name: 'reviewer',
    params: z.object({ user: z.object({ name: z.string(), age: z.number().optional() }) }),
    sections: [
      section({
        key: 'intro',
        title: 'Introduction',
        body: `
          You help {{user.name}} ({{ user.age }}).

            - kept one level in, \\{{user.name}} as it stands
        `,
        children: [
          section({
            key: 'language',
            title: 'Language',
            params: jsonSchema<{ language: string; words?: string[] }>({
              type: 'object',
              properties: {
                language: { type: 'string' },
                words: { type: 'array', items: { type: 'string' } },
              },
              required: ['language'],
              additionalProperties: false,
            }),
            body: 'Answer in {{language}}.\r\nWords: {{words}}',
            children: [
              section({
                key: 'greeting',
                title: 'Greeting',
                body: 'In {{language}}, to {{user.name}}.',
              }),
            ],
          }),
        ],
      }),
      section({ key: 'group', title: '  Only a heading  ' }),
      section({
        key: 'made',
        title: 'Made',
        params: z.object({ items: z.array(z.string()).default(['none']) }),
        body: ({ items }) => items.map((item) => `- ${item}`).join('\n'),
      }),
    ],
  })

  test('is Markdown with headings by depth, params in their places, and nothing of the margin of the code [8.section-text]', async () => {
    const { text } = await prompt.render({
      user: { name: 'Ada', age: 36 },
      language: 'German',
      words: ['a', 'b'],
    })
    expect(text).toBe(
      [
        '# Introduction',
        '',
        'You help Ada (36).',
        '',
        '  - kept one level in, {{user.name}} as it stands',
        '',
        '## Language',
        '',
        'Answer in German.\nWords: ["a","b"]',
        '',
        '### Greeting',
        '',
        'In German, to Ada.',
        '',
        '# Only a heading',
        '',
        '# Made',
        '',
        '- none',
      ].join('\n'),
    )
  })

  test('a value is never expanded again, and what is left out is empty [8.section-text]', async () => {
    const { text } = await prompt.render({
      user: { name: '{{language}} $& $1 \\{{' },
      language: '{{user.name}}',
    })
    expect(text).toContain('You help {{language}} $& $1 \\{{ ().')
    expect(text).toContain('Answer in {{user.name}}.\nWords: \n\n')
  })

  test('functions see the params of the prompt, of the sections around them, and the state [8.section-params]', async () => {
    const state = createState()
    const seen: unknown[] = []
    const inner = section({
      key: 'inner',
      title: 'Inner',
      params: z.object({ c: z.string() }),
      body: (params, context) => {
        seen.push(params, context.state === state)
        return 'x'
      },
    })
    await sections({
      name: 'p',
      params: z.object({ a: z.string() }),
      sections: [
        section({
          key: 'outer',
          title: 'Outer',
          params: z.object({ b: z.string() }),
          children: [inner],
        }),
      ],
    }).render({ a: '1', b: '2', c: '3' }, { state })
    expect(seen).toEqual([{ a: '1', b: '2', c: '3' }, true])
  })

  test('dates, booleans and big integers have a form of their own [8.section-text]', async () => {
    const prompt = sections({
      name: 'p',
      sections: [
        section({
          key: 'a',
          title: 'A',
          params: z.object({ at: z.date(), on: z.boolean(), big: z.bigint(), deep: z.unknown() }),
          body: '{{at}} {{on}} {{big}} {{deep.of.it}}|{{deep.constructor}}|{{deep.list.1}}',
        }),
      ],
    })
    expect(
      (
        await prompt.render({
          at: new Date('2026-01-02T03:04:05Z'),
          on: false,
          big: 12345678901234567890n,
          deep: { of: { it: { n: 1 } }, list: ['x', 'y'] },
        })
      ).text,
    ).toBe('# A\n\n2026-01-02T03:04:05.000Z false 12345678901234567890 {"n":1}||y')
  })
})

describe('what cannot work is refused where it is written [8.section-validation]', () => {
  const key = 'a'
  const title = 'A'
  test.each<[string, () => unknown, RegExp]>([
    ['an empty title', () => section({ key, title: ' ' }), /'title' of section 'a' must be a text/],
    ['no title', () => section({ key } as never), /'title' of section 'a'/],
    [
      'a title of two lines',
      () => section({ key, title: 'a\nb' }),
      /'title' of section 'a' must be one line/,
    ],
    [
      'a key with capital letters',
      () => section({ key: 'My Key', title }),
      /section name "My Key" must be .*for example 'my_key'/,
    ],
    [
      'an unknown option',
      () => section({ key, title, bdy: '' } as never),
      /section 'a' has no option 'bdy'; did you mean 'body'\?/,
    ],
    [
      'a summary that is not there',
      () => section({ key, title, visibility: 'summary' }),
      /section 'a' shows its summary, but has none/,
    ],
    ['an empty summary', () => section({ key, title, summary: '' }), /'summary' of section 'a'/],
    [
      'an unknown visibility',
      () => section({ key, title, visibility: 'hidden' as never }),
      /'visibility' of section 'a' must be/,
    ],
    [
      'enabled as a text',
      () => section({ key, title, enabled: 'no' as never }),
      /'enabled' of section 'a'/,
    ],
    [
      'a body that is none',
      () => section({ key, title, body: 5 as never }),
      /'body' of section 'a'/,
    ],
    [
      'a tool that is none',
      () => section({ key, title, tools: [(() => 1) as never] }),
      /section 'a': tools holds a plain function/,
    ],
    [
      'a guard that is none',
      () => section({ key, title, guards: [{ name: 'x' } as never] }),
      /'guards' of section 'a'/,
    ],
    [
      'a child that is none',
      () => section({ key, title, children: [{ key: 'b' } as never] }),
      /child 1 of section 'a' is no section/,
    ],
    [
      'a promise as section',
      () => sections({ name: 'p', sections: [Promise.resolve(section({ key, title })) as never] }),
      /section 1 of prompt 'p' is a promise: write await/,
    ],
    [
      'params that are no schema',
      () => section({ key, title, params: { a: z.string() } as never }),
      /section 'a': the schema is an object of schemas/,
    ],
    [
      'braces without a name',
      () => section({ key, title, body: 'a {{#if x}} b' }),
      /'body' of section 'a' has braces that hold no name of a param: \{\{#if x\}\}/,
    ],
    ['braces that are never closed', () => section({ key, title, body: 'a {{name' }), /\{\{name/],
    ['a prompt without sections', () => sections({ name: 'p' } as never), /sections\(\) takes/],
    ['a prompt without a name', () => sections({ sections: [] } as never), /prompt name/],
  ])('%s', (_what, run, message) => {
    const error = failureOf(run)
    expect(error.code).toBe('CONFIG')
    expect(error.message).toMatch(message)
  })

  const nested = (inner: Section): Section =>
    section({
      key: 'outer',
      title,
      children: [section({ key: 'middle', title, children: [inner] })],
    })

  test('section keys that are there twice, wherever they stand', () => {
    const error = failureOf(() =>
      sections({
        name: 'p',
        sections: [section({ key: 'my-key', title }), nested(section({ key: 'my_key', title }))],
      }),
    )
    expect(error).toMatchObject({
      code: 'CONFIG',
      message: "prompt 'p': two sections have the key 'my_key': 'my-key' and 'outer.middle.my_key'",
      suggestion: { fix: "Give one of them another key, for example 'my_key_2'" },
    })
  })

  test('duplicate names of tools, also where one of the sections is not enabled or not open', () => {
    const error = failureOf(() =>
      sections({
        name: 'p',
        sections: [
          section({ key, title, tools: [noop('read-file')] }),
          nested(
            section({
              key: 'inner',
              title,
              enabled: false,
              visibility: 'summary',
              summary: 's',
              tools: [noop('read_file')],
            }),
          ),
        ],
      }),
    )
    expect(error).toMatchObject({
      code: 'CONFIG',
      message:
        "prompt 'p': two tools are called 'read-file' ('read_file' is the same name): in section 'a' and in section 'outer.middle.inner'",
    })
    expect(
      failureOf(() =>
        sections({ name: 'p', sections: [section({ key, title, tools: [noop('x'), noop('x')] })] }),
      ).message,
    ).toContain("two tools are called 'x': in section 'a' and in section 'a'")
    expect(
      failureOf(() =>
        sections({
          name: 'p',
          sections: [section({ key, title, tools: [noop('open-sections')] })],
        }),
      ).message,
    ).toContain("section 'a' has a tool 'open-sections', which prompts have themselves")
  })

  test('placeholders that no params declare, at any depth and in summaries', () => {
    const prompt =
      (body: string, more: object = {}) =>
      () =>
        sections({
          name: 'p',
          params: z.object({ user: z.object({ name: z.string() }) }),
          sections: [
            nested(
              section({
                key: 'inner',
                title,
                params: z.object({ topic: z.string() }),
                body,
                ...more,
              }),
            ),
          ],
        })
    expect(prompt('{{topic}} {{user.name}}')).not.toThrow()
    expect(failureOf(prompt('{{topik}}'))).toMatchObject({
      code: 'CONFIG',
      message:
        "prompt 'p': 'body' of section 'outer.middle.inner' has a place for {{topik}}, which no params declare; there are user, topic",
    })
    expect(failureOf(prompt('{{user.nam}}')).message).toContain('{{user.nam}}')
    expect(failureOf(prompt('{{user.name.first}}')).message).toContain('{{user.name.first}}')
    expect(failureOf(prompt('', { summary: '{{x}}' })).message).toContain(
      "'summary' of section 'outer.middle.inner'",
    )
    expect(
      failureOf(() =>
        sections({ name: 'p', sections: [section({ key, title, body: '{{toString}}' })] }),
      ).message,
    ).toContain('{{toString}}')
    expect(() =>
      sections({
        name: 'p',
        sections: [
          section({
            key,
            title,
            params: { type: 'object', additionalProperties: true },
            body: '{{whatever}}',
          }),
        ],
      }),
    ).not.toThrow()
  })

  test('nesting deeper than headings go', () => {
    let inner = section({ key: 's7', title })
    for (let depth = 6; depth >= 1; depth -= 1)
      inner = section({ key: `s${depth}`, title, children: [inner] })
    expect(failureOf(() => sections({ name: 'p', sections: [inner] })).message).toContain(
      "section 's1.s2.s3.s4.s5.s6.s7' is nested 7 deep",
    )
  })
})

describe('validate() looks at what is compiled late [8.section-validation]', () => {
  test('and is content with what is right', async () => {
    const fine = tool({
      name: 'fine',
      summary: 'x',
      input: () => z.object({ at: z.iso.date() }),
      output: z.number(),
      examples: [{ input: { at: '2026-01-01' }, output: 1 }],
      run: () => 1,
    })
    await expect(
      sections({
        name: 'p',
        params: () => z.object({ a: z.string() }),
        sections: [section({ key: 'a', title: 'A', body: '{{a}}', tools: [fine] })],
      }).validate(),
    ).resolves.toBeUndefined()
  })

  test.each<[string, () => Section, string]>([
    [
      'a bad example behind a thunk',
      () =>
        section({
          key: 'a',
          title: 'A',
          tools: [
            tool({
              name: 't',
              summary: 't',
              input: () => z.object({ n: z.number() }),
              examples: [{ input: { n: 1 } }, { input: { n: 'one' } }],
              run: () => 1,
            }),
          ],
        }),
      "section 'a' of prompt 'p': example 2 of tool 't' does not fit its input: n must be a number",
    ],
    [
      'a bad example of the output',
      () =>
        section({
          key: 'a',
          title: 'A',
          enabled: false,
          tools: [
            tool({
              name: 't',
              summary: 't',
              output: z.number(),
              examples: [{ input: {}, output: 'one' }],
              run: () => 1,
            }),
          ],
        }),
      "section 'a' of prompt 'p': example 1 of tool 't' does not fit its output: ",
    ],
    [
      'params behind a thunk that lack a placeholder',
      () =>
        section({
          key: 'a',
          title: 'A',
          params: () => z.object({ topic: z.string() }),
          body: '{{topik}}',
        }),
      "prompt 'p': 'body' of section 'a' has a place for {{topik}}",
    ],
    [
      'params that are no object',
      () => section({ key: 'a', title: 'A', params: () => z.string() as never }),
      "the params of section 'a' of prompt 'p': ",
    ],
  ])('%s', async (_what, make, message) => {
    const error = await rejectionOf(sections({ name: 'p', sections: [make()] }).validate())
    expect(error.code).toBe('CONFIG')
    expect(error.message).toContain(message)
  })
})

describe('wrong params name the section [8.section-params]', () => {
  const prompt = sections({
    name: 'p',
    params: z.object({ user: z.string() }),
    sections: [
      section({
        key: 'a',
        title: 'A',
        children: [
          section({
            key: 'b',
            title: 'B',
            params: z.object({ topic: z.string(), depth: z.number().max(3).default(1) }),
            body: '{{topic}}',
          }),
        ],
      }),
    ],
  })

  test.each<[unknown, string, string]>([
    [{ user: 'x' }, 'MISSING_PARAM', "section 'a.b' of prompt 'p': topic is required"],
    [{ topic: 'x' }, 'MISSING_PARAM', "prompt 'p': user is required"],
    [undefined, 'MISSING_PARAM', "prompt 'p': user is required"],
    [
      { user: 'x', topic: 5 },
      'INVALID_INPUT',
      "section 'a.b' of prompt 'p': topic must be text, got 5",
    ],
    [{ user: 'x', topic: 't', depth: 9 }, 'INVALID_INPUT', "section 'a.b' of prompt 'p': depth "],
    [
      { user: 'x', topik: 't' },
      'INVALID_INPUT',
      "prompt 'p': there is no param 'topik'; did you mean 'topic'?",
    ],
    [['x'], 'INVALID_INPUT', "the params of prompt 'p' must be an object"],
  ])('%j', async (params, code, message) => {
    const error = await rejectionOf(prompt.render(params as never))
    expect(error.code).toBe(code)
    expect(error.message).toContain(message)
  })

  test('functions that fail, or give no text, are told with their section', async () => {
    const broken = (more: object) =>
      rejectionOf(
        sections({ name: 'p', sections: [section({ key: 'a', title: 'A', ...more })] }).render(),
      )
    expect(
      await broken({
        body: () => {
          throw new Error('no network')
        },
      }),
    ).toMatchObject({
      code: 'INTERNAL',
      message: "'body' of section 'a' of prompt 'p': no network",
    })
    for (const [given, shown] of [
      ['no', '"no"'],
      [1, '1'],
      [undefined, 'undefined'],
      [null, 'null'],
    ] as const)
      expect(await broken({ enabled: () => given as never })).toMatchObject({
        code: 'CONFIG',
        message: `'enabled' of section 'a' of prompt 'p' gave ${shown} where true or false is expected`,
      })
    expect(
      await broken({
        enabled: () => {
          throw new Error('x')
        },
      }),
    ).toMatchObject({ message: "'enabled' of section 'a' of prompt 'p': x" })
    expect(await broken({ body: () => 5 })).toMatchObject({
      code: 'CONFIG',
      message: "'body' of section 'a' of prompt 'p' gave number where Markdown is expected",
    })
    expect(await broken({ visibility: () => 'hidden' })).toMatchObject({
      code: 'CONFIG',
      message: `'visibility' of section 'a' of prompt 'p' gave "hidden" where 'full' or 'summary' is expected`,
    })
    expect(await broken({ visibility: () => 'summary' })).toMatchObject({
      code: 'CONFIG',
      message: "section 'a' of prompt 'p' shows its summary, but has none",
    })
  })
})
