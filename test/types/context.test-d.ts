import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  call,
  content,
  createState,
  fail,
  jsonSchema,
  ok,
  partial,
  prompt,
  protocolError,
  resource,
  slice,
  tool,
  ToolError,
  toolset,
} from 'toolable'
import type { ContentBlock, Context, PromptContext, PromptText, Resource, Prompt } from 'toolable'

declare const ctx: Context
declare const reading: PromptContext
declare const text: string

describe('[3.context-ask] ctx.ask', () => {
  test('gives what its kind and schema say', () => {
    expectTypeOf(ctx.ask({ kind: 'confirm', prompt: '?' })).resolves.toEqualTypeOf<boolean>()
    expectTypeOf(
      ctx.ask({
        kind: 'decision',
        prompt: '?',
        options: ['red', { value: 'blue', label: 'Blue' }],
      }),
    ).resolves.toEqualTypeOf<'red' | 'blue'>()
    expectTypeOf(
      ctx.ask({ kind: 'input', prompt: '?', schema: z.object({ n: z.number().default(1) }) }),
    ).resolves.toEqualTypeOf<{ n: number }>()
    expectTypeOf(
      ctx.ask({ kind: 'input', prompt: '?', schema: jsonSchema<{ n: 1 }>({}) }),
    ).resolves.toEqualTypeOf<{ n: 1 }>()
    expectTypeOf(
      ctx.ask({ kind: 'input', prompt: '?', schema: { type: 'string' } }),
    ).resolves.toEqualTypeOf<unknown>()
    expectTypeOf(ctx.ask({ kind: 'input', prompt: '?' })).resolves.toEqualTypeOf<unknown>()
  })

  test('refuses what makes no sense', () => {
    // @ts-expect-error a decision needs options
    void ctx.ask({ kind: 'decision', prompt: '?' })
    // @ts-expect-error the default is one of the options
    // prettier-ignore
    void ctx.ask({ kind: 'decision', prompt: '?', options: ['a'], default: 'b' })
    // @ts-expect-error no such kind
    void ctx.ask({ kind: 'yesno', prompt: '?' })
    // @ts-expect-error a question has a text
    void ctx.ask({ kind: 'confirm' })
  })
})

test('[3.context-state] slices are typed', () => {
  const notes = slice<{ text: string }>('notes')
  const view = createState().get(notes)
  expectTypeOf(view.latest()).toEqualTypeOf<{ text: string } | undefined>()
  expectTypeOf(view.all()).toEqualTypeOf<readonly { text: string }[]>()
  // @ts-expect-error wrong item
  view.append('text')
})

test('[3.context-checkpoint] [3.context-sample] what ctx gives', () => {
  expectTypeOf(ctx.checkpoint('a').load<{ n: number }>()).resolves.toEqualTypeOf<
    { n: number } | undefined
  >()
  expectTypeOf(ctx.checkpoint('a').load()).resolves.toEqualTypeOf<unknown>()
  expectTypeOf(ctx.sample('x', { maxTokens: 5 })).resolves.toEqualTypeOf<string>()
  expectTypeOf(ctx.secret('x')).toEqualTypeOf<string>()
  expectTypeOf(ctx.env['X']).toEqualTypeOf<string | undefined>()
  expectTypeOf(ctx.deadline).extract<object>().toHaveProperty('remaining')
})

describe('resources and prompts', () => {
  test('[3.resource-read-forms] parameters come from the pattern', () => {
    const note = resource({
      uri: 'notes://{folder}/{id}.md',
      summary: 's',
      read: (params) => {
        expectTypeOf(params).toEqualTypeOf<{ readonly folder: string; readonly id: string }>()
        return params.id
      },
    })
    expectTypeOf(note).toEqualTypeOf<Resource>()
    resource({
      uri: 'notes://all',
      summary: 's',
      read: (params) => {
        expectTypeOf(params).toEqualTypeOf<{}>()
        return 1
      },
    })
    resource({
      uri: text,
      summary: 's',
      read: (params) => {
        expectTypeOf(params).toEqualTypeOf<Record<string, string>>()
        return 1
      },
    })
    // @ts-expect-error there is no such placeholder
    resource({ uri: 'notes://{id}', summary: 's', read: ({ name }) => name })
  })

  test('[3.prompt-arguments] arguments come from the record or the schema', () => {
    const review = prompt({
      name: 'p',
      summary: 's',
      arguments: { code: 'The code' },
      render: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ readonly code: string }>()
        return args.code
      },
    })
    expectTypeOf(review).toEqualTypeOf<Prompt>()
    prompt({
      name: 'p',
      summary: 's',
      arguments: z.object({ n: z.number().default(1) }),
      render: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ n: number }>()
        return 'x'
      },
    })
    prompt({
      name: 'p',
      summary: 's',
      arguments: () => z.object({ n: z.number() }),
      render: ({ n }) => [{ role: 'user', content: `${n}` }],
    })
    prompt({
      name: 'p',
      summary: 's',
      arguments: jsonSchema<{ a: string }>({ type: 'object' }),
      render: async ({ a }) => a,
    })
    prompt({
      name: 'p',
      summary: 's',
      render: (args) => {
        expectTypeOf(args).toEqualTypeOf<Record<string, never>>()
        return 'x'
      },
    })
    expectTypeOf(review.render({}, reading)).toEqualTypeOf<PromptText | Promise<PromptText>>()
    prompt({
      name: 'p',
      summary: 's',
      arguments: { code: 'The code' },
      render: async (args, ctx) => {
        expectTypeOf(ctx).toEqualTypeOf<PromptContext>()
        return `${args.code}${await ctx.sample('x', { key: 'k' })}`
      },
    })
    // @ts-expect-error there is no such argument
    // prettier-ignore
    prompt({ name: 'p', summary: 's', arguments: { code: 'The code' }, render: ({ style }) => style })
    // @ts-expect-error a prompt is text
    prompt({ name: 'p', summary: 's', render: () => 5 })
  })
})

describe('[3.content] content', () => {
  test('messages and outcomes take blocks', async () => {
    prompt({
      name: 'p',
      summary: 's',
      render: () => [
        { role: 'user', content: content.text('x') },
        { role: 'assistant', content: [content.image('', 'image/png')] },
      ],
    })
    const draws = tool({
      name: 'x',
      summary: 'x',
      run: () => ok({ n: 1 }, { content: [content.link('a:b'), content.resource('a:b', text)] }),
    })
    expectTypeOf(draws).returns.resolves.toEqualTypeOf<{ n: number }>()
    const outcome = await call(draws)
    if (outcome.ok)
      expectTypeOf(outcome.content).toEqualTypeOf<readonly ContentBlock[] | undefined>()
    const some = tool({
      name: 'x',
      summary: 'x',
      run: () => partial([1], [], { key: 'x', content: content.text('x') }),
    })
    expectTypeOf(some).returns.resolves.toEqualTypeOf<number[]>()
  })

  test('refuses what no reader knows', () => {
    // @ts-expect-error no such block
    ok(1, { content: { type: 'video' } })
    // @ts-expect-error a picture has a type
    content.image('')
    // @ts-expect-error audience is user or assistant
    content.text('x', { audience: ['dog'] })
    // @ts-expect-error no such policy
    tool({ name: 'x', summary: 'x', mcp: { task: 'always' }, run: () => 1 })
  })
})

test('[3.completers] completers are named like the arguments', () => {
  prompt({
    name: 'p',
    summary: 's',
    arguments: { code: 'The code' },
    complete: { code: (value, others) => [value, others['x'] ?? ''] },
    render: () => '',
  })
  // @ts-expect-error there is no such argument
  // prettier-ignore
  prompt({ name: 'p', summary: 's', arguments: { code: 'The code' }, complete: { style: () => [] }, render: () => '' })
  prompt({
    name: 'p',
    summary: 's',
    arguments: z.object({ n: z.number() }),
    complete: { n: async () => ['1'] },
    render: () => '',
  })
  resource({ uri: 'a://{id}', summary: 's', complete: { id: () => [] }, read: () => '' })
  // @ts-expect-error there is no such placeholder
  // prettier-ignore
  resource({ uri: 'a://{id}', summary: 's', complete: { name: () => [] }, read: () => '' })
  resource({ uri: text, summary: 's', complete: { anything: () => [] }, read: () => '' })
})

test('[3.toolset-changes] [3.context-roots] [3.protocol-error] what is told', () => {
  const set = toolset({ name: 'x' })
  expectTypeOf(set.remove).returns.toEqualTypeOf<boolean>()
  const stop = set.onChange((change) => {
    if (change.kind === 'resource') expectTypeOf(change.uri).toEqualTypeOf<string>()
  })
  expectTypeOf(stop).toEqualTypeOf<() => void>()
  expectTypeOf(ctx.roots()).resolves.toEqualTypeOf<
    readonly { readonly uri: string; readonly name?: string }[]
  >()
  const find = (id: string): string => (id === '' ? protocolError(-32602, 'x') : id)
  expectTypeOf(find).returns.toEqualTypeOf<string>()
})

test('[3.fail-options] fail never returns, with or without words', () => {
  expectTypeOf(fail).returns.toEqualTypeOf<never>()
  const find = (id: string): string => (id === '' ? fail('NOT_FOUND') : id)
  expectTypeOf(find).returns.toEqualTypeOf<string>()
  expectTypeOf<ToolError['code']>().toEqualTypeOf<string>()
  tool({
    name: 'x',
    summary: 'x',
    errors: { E_MINE: 'Declared' },
    run: () => fail('E_MINE', undefined, { field: 'id' }),
  })
  tool({
    name: 'x',
    summary: 'x',
    run: () => fail('E_MINE', 'x', { suggestion: { input: { a: 1 } } }),
  })
  // @ts-expect-error a suggestion says something
  new ToolError('NOT_FOUND', 'x', { suggestion: {} })
})
