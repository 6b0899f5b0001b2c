import { describe, expect, test } from 'vitest'
import { call, prompt, resource, tool, ToolError, toolset } from 'toolable'
import type { Answerer, CallOptions, Context, Interaction, SampleRequest } from 'toolable'

const runs = (run: (ctx: Context) => unknown) =>
  tool({ name: 'asks', summary: 'Asks', run: (_input, ctx) => run(ctx) })
const never = (): Promise<never> => new Promise(() => undefined)

describe('[3.context-roots] ctx.roots', () => {
  const roots = runs((ctx) => ctx.roots({ key: 'here' }))

  test('is the working folder where nobody says otherwise', async () => {
    expect(await call(roots, {}, { cwd: '/a b' })).toMatchObject({
      result: [{ uri: 'file:///a%20b' }],
    })
    const moved = tool({
      name: 'moved',
      summary: 'Moved',
      input: { type: 'object', properties: { working_dir: { type: 'string' } } },
      run: (_input, ctx) => ctx.roots(),
    })
    expect(await call(moved, { working_dir: '/' }, { cwd: '/tmp' })).toMatchObject({
      result: [{ uri: 'file:///' }],
    })
  })

  test('is what the caller tells, with the key of the question', async () => {
    const asked: unknown[] = []
    const options: CallOptions = {
      roots: async (request, signal) => {
        asked.push(request, signal instanceof AbortSignal)
        return [{ uri: 'file:///x', name: 'X' }]
      },
    }
    expect(await call(roots, {}, options)).toMatchObject({
      result: [{ uri: 'file:///x', name: 'X' }],
    })
    expect(asked).toEqual([{ key: 'here' }, true])
    expect(await call(roots, {}, { roots: () => [] })).toMatchObject({ result: [] })
  })

  test('that makes no sense is DEPENDENCY', async () => {
    for (const odd of [
      undefined,
      'file:///',
      [{ name: 'x' }],
      [{ uri: 5 }],
      [null],
      [{ uri: 'a:', name: 5 }],
    ]) {
      expect(await call(roots, {}, { roots: () => odd as never })).toMatchObject({
        error: {
          code: 'DEPENDENCY',
          message: 'the roots that came back are no list of { uri, name }',
        },
      })
    }
  })

  test('waits with the deadline standing still, and ends with the call', async () => {
    const slow: CallOptions = {
      timeout: '500ms',
      roots: async () => {
        await new Promise((resolve) => setTimeout(resolve, 600))
        return []
      },
    }
    expect(await call(roots, {}, slow)).toMatchObject({ ok: true })
    const controller = new AbortController()
    const answer = call(
      roots,
      {},
      {
        signal: controller.signal,
        roots: () => {
          controller.abort()
          return never()
        },
      },
    )
    expect(await answer).toMatchObject({ error: { code: 'CANCELLED' } })
  })
})

describe('[3.question-key] the key of a question', () => {
  test('travels with every kind, and is absent where none was given', async () => {
    const seen: (Interaction | SampleRequest)[] = []
    const answer: Answerer = (question) => {
      seen.push(question)
      return true
    }
    const asks = runs(async (ctx) => [
      await ctx.ask({ kind: 'confirm', prompt: '?', key: 'a.b-c_9' }),
      await ctx.ask({ kind: 'confirm', prompt: '?' }),
      await ctx.sample('s', { key: 'k'.repeat(64) }),
      await ctx.sample('s'),
    ])
    expect(
      await call(
        asks,
        {},
        {
          answer,
          sample: (request) => {
            seen.push(request)
            return ''
          },
        },
      ),
    ).toMatchObject({ ok: true })
    expect(seen.map((each) => ('key' in each ? each.key : 'none'))).toEqual([
      'a.b-c_9',
      'none',
      'k'.repeat(64),
      'none',
    ])
    expect(Object.keys(seen[0]!).at(-1)).toBe('key')
  })

  test('stands in the question that nobody could answer', async () => {
    const asks = runs((ctx) => ctx.ask({ kind: 'confirm', prompt: '?', key: 'sure' }))
    expect(await call(asks)).toMatchObject({
      error: { code: 'ANSWER_REQUIRED', details: { interaction: { key: 'sure' } } },
    })
  })

  test('that not every surface can carry is INTERNAL', async () => {
    for (const key of ['', 'a b', 'ä', 'x'.repeat(65), 'a\n', 5, null, '__proto__ ']) {
      for (const ask of [
        (ctx: Context) => ctx.ask({ kind: 'confirm', prompt: '?', key: key as string }),
        (ctx: Context) => ctx.sample('?', { key: key as string }),
        (ctx: Context) => ctx.roots({ key: key as string }),
      ]) {
        expect(await call(runs(ask), {}, { answer: () => true, sample: () => '' })).toMatchObject({
          error: {
            code: 'INTERNAL',
            message: expect.stringContaining(
              'the key of a question must be 1 to 64 characters of A-Z',
            ),
          },
        })
      }
    }
  })
})

describe('[3.questions-at-once] several questions at once', () => {
  const two = runs((ctx) =>
    Promise.all([ctx.ask({ kind: 'input', prompt: 'a' }), ctx.ask({ kind: 'input', prompt: 'b' })]),
  )

  test('are answered each on its own, in any order', async () => {
    const waiting = new Map<string, (value: unknown) => void>()
    const outcome = call(
      two,
      {},
      {
        answer: ({ prompt: text }) =>
          new Promise((resolve) => {
            waiting.set(text, resolve)
            if (waiting.size < 2) return
            waiting.get('b')!('second')
            waiting.get('a')!('first')
          }),
      },
    )
    expect(await outcome).toMatchObject({ result: ['first', 'second'] })
  })

  test('the deadline stands still until the last is answered, and then goes on', async () => {
    const later = (milliseconds: number) =>
      new Promise((resolve) => setTimeout(resolve, milliseconds))
    const answer: Answerer = async ({ prompt: text }) => {
      await later(text === 'a' ? 10 : 600)
      return text
    }
    expect(await call(two, {}, { timeout: '500ms', answer })).toMatchObject({
      ok: true,
      result: ['a', 'b'],
    })
    const thenHangs = runs(async (ctx) => {
      await Promise.all([
        ctx.ask({ kind: 'input', prompt: 'a' }),
        ctx.ask({ kind: 'input', prompt: 'b' }),
      ])
      return never()
    })
    expect(await call(thenHangs, {}, { timeout: '500ms', answer })).toMatchObject({
      error: { code: 'TIMEOUT' },
    })
  })

  test('come in the order in which they were asked, however long one takes to prepare', async () => {
    const order: string[] = []
    const asks = runs((ctx) =>
      Promise.all([
        ctx.ask({ kind: 'input', prompt: 'first', schema: { type: 'string' } }),
        ctx.sample('second'),
        ctx.ask({ kind: 'input', prompt: 'third' }),
        ctx.roots({ key: 'fourth' }),
        ctx.ask({ kind: 'input', prompt: 'broken', key: ' ' }).catch(({ code }: ToolError) => code),
        ctx.ask({ kind: 'confirm', prompt: 'fifth', default: true }),
      ]),
    )
    const outcome = await call(
      asks,
      {},
      {
        answer: ({ prompt: text, kind }) => {
          order.push(text)
          return kind === 'confirm' ? false : text
        },
        sample: ({ prompt: text }) => {
          order.push(text)
          return text
        },
        roots: ({ key }) => {
          order.push(key!)
          return []
        },
      },
    )
    expect(outcome).toMatchObject({ result: ['first', 'second', 'third', [], 'INTERNAL', false] })
    expect(order).toEqual(['first', 'second', 'third', 'fourth', 'fifth'])
  })

  test('whoever is still asked when the call ends hears of it, and nothing is left unhandled', async () => {
    const rejections: unknown[] = []
    const note = (reason: unknown): void => void rejections.push(reason)
    process.on('unhandledRejection', note)
    try {
      for (const run of [
        (ctx: Context) =>
          Promise.race([
            ctx.ask({ kind: 'input', prompt: 'a' }),
            ctx.ask({ kind: 'input', prompt: 'b' }),
          ]),
        (ctx: Context) =>
          Promise.all([
            ctx.ask({ kind: 'input', prompt: 'fails' }),
            ctx.ask({ kind: 'input', prompt: 'b', timeout: 60 }),
          ]),
        async (ctx: Context) => {
          void ctx.ask({ kind: 'input', prompt: 'b' })
          return ctx.ask({ kind: 'input', prompt: 'a' })
        },
        async (ctx: Context) => {
          void ctx.sample('b').then(() => undefined)
          return ctx.ask({ kind: 'input', prompt: 'a' })
        },
      ]) {
        let told: (reason: unknown) => void = () => undefined
        const heard = new Promise((resolve) => {
          told = resolve
        })
        const linger = (signal: AbortSignal): Promise<never> =>
          new Promise((_resolve, reject) =>
            signal.addEventListener(
              'abort',
              () => {
                told(signal.reason)
                reject(signal.reason as Error)
              },
              { once: true },
            ),
          )
        const outcome = await call(
          runs(run),
          {},
          {
            answer: ({ prompt: text }, signal) => {
              if (text === 'b') return linger(signal)
              if (text === 'fails') throw new ToolError('PERMISSION', 'declined')
              return new Promise((resolve) => setTimeout(resolve, 10, text))
            },
            sample: (_request, signal) => linger(signal),
          },
        )
        expect(outcome).toMatchObject(
          outcome.ok ? { result: 'a' } : { error: { code: 'PERMISSION' } },
        )
        expect(await heard).toMatchObject({ code: 'CANCELLED', message: 'the call is over' })
      }
      await new Promise((resolve) => setImmediate(resolve))
      expect(rejections).toEqual([])
    } finally {
      process.off('unhandledRejection', note)
    }
  })

  test('twenty of them warn of nothing', async () => {
    const warnings: unknown[] = []
    const note = (warning: unknown): void => void warnings.push(warning)
    process.on('warning', note)
    const many = runs((ctx) =>
      Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          ctx.ask({ kind: 'input', prompt: `${index}`, timeout: 60 }),
        ),
      ),
    )
    expect(await call(many, {}, { answer: async ({ prompt: text }) => text })).toMatchObject({
      ok: true,
      result: { length: 20 },
    })
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', note)
    expect(warnings).toEqual([])
  })
})

describe('[3.context-ask] an error of whoever is asked', () => {
  const declined = new ToolError('PERMISSION', 'the user declined', {
    details: { action: 'decline' },
  })
  const options: CallOptions = {
    answer: () => {
      throw declined
    },
    sample: async () => Promise.reject(declined),
    roots: () => {
      throw declined
    },
  }

  test.each<[string, (ctx: Context) => Promise<unknown>]>([
    ['ask', (ctx) => ctx.ask({ kind: 'confirm', prompt: '?' })],
    [
      'ask with a limit',
      (ctx) => ctx.ask({ kind: 'confirm', prompt: '?', timeout: 60, default: true }),
    ],
    ['sample', (ctx) => ctx.sample('?')],
    ['roots', (ctx) => ctx.roots()],
  ])('reaches the handler of %s unchanged', async (_what, ask) => {
    const caught = runs(async (ctx) => {
      try {
        return await ask(ctx)
      } catch (error) {
        return error === declined
      }
    })
    expect(await call(caught, {}, options)).toMatchObject({ result: true })
    expect(await call(runs(ask), {}, options)).toMatchObject({
      error: { code: 'PERMISSION', message: 'the user declined', details: { action: 'decline' } },
    })
  })
})

describe('[3.reading-context] prompts and resources', () => {
  const talk = async (
    ctx: Pick<Context, 'ask' | 'sample' | 'roots' | 'log' | 'caller' | 'cwd' | 'env' | 'signal'>,
  ): Promise<string> => {
    ctx.log('working', 'warn')
    ctx.log('on')
    const [color, text, roots] = [
      await ctx.ask({ kind: 'decision', prompt: 'Color?', options: ['red'], key: 'color' }),
      await ctx.sample('Write'),
      await ctx.roots(),
    ]
    return JSON.stringify({
      color,
      text,
      roots,
      caller: ctx.caller,
      cwd: ctx.cwd,
      home: ctx.env['HOME'],
      aborted: ctx.signal.aborted,
    })
  }
  const set = toolset({
    name: 'prog',
    resources: [resource({ uri: 'a://b', summary: 'B', read: (_params, ctx) => talk(ctx) })],
    prompts: [prompt({ name: 'p', summary: 'P', render: (_args, ctx) => talk(ctx) })],
  })
  const surfaces: readonly (readonly [
    string,
    (options?: CallOptions) => Promise<{ ok: boolean }>,
    string,
  ])[] = [
    ['a resource', (options) => set.readResource('a://b', options), "resource 'a://b'"],
    ['a prompt', (options) => set.renderPrompt('p', {}, options), "prompt 'p'"],
  ]

  test.each(surfaces)('%s turns to its caller like a tool', async (_what, read) => {
    const events: unknown[] = []
    const outcome = await read({
      answer: ({ key }) => (key === 'color' ? 'red' : undefined),
      sample: () => 'Roses',
      roots: () => [{ uri: 'a:' }],
      caller: 'ci',
      cwd: '/x',
      env: { HOME: '/h' },
      onEvent: (event) => void events.push(event),
    })
    expect(outcome).toMatchObject({
      ok: true,
      result: JSON.stringify({
        color: 'red',
        text: 'Roses',
        roots: [{ uri: 'a:' }],
        caller: 'ci',
        cwd: '/x',
        home: '/h',
        aborted: false,
      }),
    })
    expect(events).toEqual([
      { type: 'log', level: 'warn', message: 'working' },
      { type: 'log', level: 'info', message: 'on' },
    ])
  })

  test.each(surfaces)('%s is named where nobody can answer', async (_what, read, asker) => {
    expect(await read()).toMatchObject({
      error: { code: 'ANSWER_REQUIRED', message: `${asker} asks 'Color?' and nobody can answer` },
    })
    expect(await read({ answer: () => 'red' })).toMatchObject({
      error: {
        code: 'ANSWER_REQUIRED',
        message: `${asker} asks for a completion and no model is connected`,
      },
    })
  })

  test.each(surfaces)(
    '%s waits with the deadline standing still, and a listener that throws ends it',
    async (_what, read) => {
      const slow: Answerer = async () => {
        await new Promise((resolve) => setTimeout(resolve, 600))
        return 'red'
      }
      expect(await read({ timeout: '500ms', answer: slow, sample: () => '' })).toMatchObject({
        ok: true,
      })
      expect(
        await read({
          answer: () => 'red',
          sample: () => '',
          onEvent: () => {
            throw new Error('full')
          },
        }),
      ).toMatchObject({ error: { code: 'INTERNAL', message: 'full' } })
    },
  )

  test('a render of one argument works as before', async () => {
    const old = toolset({
      name: 'prog',
      prompts: [prompt({ name: 'p', summary: 'P', arguments: { a: 'A' }, render: ({ a }) => a })],
    })
    expect(await old.renderPrompt('p', { a: 'x' })).toMatchObject({ ok: true, result: 'x' })
  })
})
