import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { call, fail, stream, tool } from 'toolable'
import type { CallOptions, Context, SampleRequest } from 'toolable'

const made = <Result>(run: (ctx: Context) => Result) =>
  tool({ name: 'made', summary: 'Made', run: (_input, ctx) => run(ctx) as never })
const eventsOf = async (run: (ctx: Context) => unknown) => {
  const events: object[] = []
  await call(made(run), {}, { onEvent: (event) => void events.push(event) })
  return events.slice(0, -1)
}

describe('events', () => {
  test('[3.context-progress-log-artifact] progress, log, artifact and item in their order', async () => {
    expect(
      await eventsOf((ctx) => {
        ctx.progress('half', 50)
        ctx.progress('on')
        ctx.log('seen')
        ctx.log('careful', 'warn')
        ctx.artifact('report', 'file:///r')
        ctx.item({ n: 1 })
      }),
    ).toEqual([
      { type: 'progress', message: 'half', percent: 50 },
      { type: 'progress', message: 'on' },
      { type: 'log', level: 'info', message: 'seen' },
      { type: 'log', level: 'warn', message: 'careful' },
      { type: 'artifact', name: 'report', uri: 'file:///r' },
      { type: 'item', value: { n: 1 } },
    ])
  })

  test('[3.context-progress-log-artifact] percentages stay drawable and texts texts', async () => {
    expect(
      await eventsOf((ctx) => {
        for (const percent of [-5, 150, NaN, Infinity]) ctx.progress('x', percent)
        ctx.progress(5 as never)
      }),
    ).toEqual([
      ...[0, 100, 0, 0].map((percent) => ({ type: 'progress', message: 'x', percent })),
      { type: 'progress', message: '5' },
    ])
  })

  test('[3.context-progress-log-artifact] what a generator yields is tidied in the same way', async () => {
    const events: object[] = []
    const odd = tool({
      name: 'made',
      summary: 'Made',
      *run() {
        yield { type: 'progress', message: 5, percent: 500, secret: 'x' }
        yield { type: 'log', message: 'no level' }
        yield { type: 'log', message: 'odd level', level: 'loud' }
        yield stream.item([1])
      },
    })
    await call(odd, {}, { onEvent: (event) => void events.push(event) })
    expect(events.slice(0, -1)).toEqual([
      { type: 'progress', message: '5', percent: 100 },
      { type: 'log', level: 'info', message: 'no level' },
      { type: 'log', level: 'info', message: 'odd level' },
      { type: 'item', value: [1] },
    ])
  })
})

describe('the surroundings', () => {
  test('[3.context-caller-env-cwd] come from the call', async () => {
    const options: CallOptions = { caller: 'agent', env: { A: '1' }, cwd: '/somewhere', verbose: 2 }
    await expect(
      made((ctx) => [ctx.caller, ctx.env['A'], ctx.env['PATH'], ctx.cwd, ctx.verbose])({}, options),
    ).resolves.toEqual(['agent', '1', undefined, '/somewhere', 2])
  })

  test('[3.context-caller-env-cwd] and from the process where the call says nothing', async () => {
    await expect(
      made((ctx) => [ctx.caller, ctx.env['PATH'], ctx.cwd, ctx.verbose])(),
    ).resolves.toEqual([undefined, process.env['PATH'], process.cwd(), 0])
  })

  test('[3.context-secret] a secret is given by name, and a missing one is CONFIG with the way to give it', async () => {
    const secrets = { token: 's3cret' }
    await expect(made((ctx) => ctx.secret('token'))({}, { secrets })).resolves.toBe('s3cret')
    for (const name of ['other', 'constructor', '__proto__']) {
      expect(
        await call(
          made((ctx) => ctx.secret(name)),
          {},
          { secrets },
        ),
      ).toMatchObject({
        error: {
          code: 'CONFIG',
          message: `tool 'made' needs the secret '${name}'`,
          suggestion: { fix: `Give it with --secret-file ${name}=<path>` },
        },
      })
    }
    expect(await call(made((ctx) => ctx.secret('token')))).toMatchObject({
      error: { code: 'CONFIG' },
    })
  })

  test('[3.context-signal-deadline] without a limit there is no deadline, and the signal is one and the same', async () => {
    await expect(
      made((ctx) => [ctx.deadline === undefined, ctx.signal === ctx.signal, ctx.signal.aborted])(),
    ).resolves.toEqual([true, true, false])
  })
})

describe('dry runs', () => {
  const supported = tool({
    name: 'moves',
    summary: 'Moves',
    input: z.object({ from: z.string() }),
    output: z.string(),
    dryRun: true,
    run: ({ from }, ctx) => {
      ctx.plan('move', from, { bytes: 3n.toString() })
      ctx.plan('log', 'x')
      return 'moved'
    },
  })

  test('[3.dry-run-supported] [3.context-plan] a handler that supports it runs, and the result is its plan', async () => {
    expect(await call(supported, { from: 'a' }, { dryRun: true })).toMatchObject({
      ok: true,
      result: {
        plan: [
          { action: 'move', target: 'a', details: { bytes: '3' } },
          { action: 'log', target: 'x' },
        ],
      },
      meta: { dry_run: true },
    })
    const outcome = await call(supported, { from: 'a' })
    expect(outcome).toMatchObject({ ok: true, result: 'moved' })
    expect(outcome.meta.dry_run).toBeUndefined()
  })

  test('[3.dry-run-supported] a dry run that fails is a failure, and says that it was dry', async () => {
    expect(
      await call(
        tool({ name: 'x', summary: 'x', dryRun: true, run: () => fail('CONFLICT', 'no') }),
        {},
        { dryRun: true },
      ),
    ).toMatchObject({ ok: false, error: { code: 'CONFLICT' }, meta: { dry_run: true } })
    expect(
      await call(
        tool({
          name: 'x',
          summary: 'x',
          dryRun: true,
          run: (_input, ctx) => ctx.plan('a', 'b', 5n),
        }),
        {},
        { dryRun: true },
      ),
    ).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('a BigInt at result.plan[0].details') },
    })
  })

  test('[3.dry-run-unsupported] any other tool is not run, and answers what it would do', async () => {
    const run = vi.fn()
    const plain = tool({
      name: 'moves',
      summary: 'Moves',
      input: z.object({ from: z.string(), to: z.string().default('b') }),
      run,
    })
    expect(await call(plain, { from: 'a' }, { dryRun: true })).toEqual({
      ok: true,
      status: 'success',
      result: { dry_run: true, would_execute: { from: 'a', to: 'b' } },
      meta: { tool: 'moves', duration_ms: expect.any(Number), dry_run: true },
    })
    expect(run).not.toHaveBeenCalled()
    expect(await call(plain, {} as never, { dryRun: true })).toMatchObject({
      ok: false,
      error: { code: 'MISSING_PARAM' },
      meta: { dry_run: true },
    })
  })

  test('[3.context-plan] outside a dry run a plan does nothing', async () => {
    await expect(made((ctx) => [ctx.dryRun, ctx.plan('a', 'b')])()).resolves.toEqual([
      false,
      undefined,
    ])
  })
})

describe('reserved fields', () => {
  const look = (fields: z.ZodRawShape) =>
    tool({
      name: 'looks',
      summary: 'Looks',
      input: z.object(fields),
      run: (_input, ctx) => ({
        cwd: ctx.cwd,
        verbose: ctx.verbose,
        left: Math.ceil(ctx.deadline?.remaining() ?? 0),
      }),
    })

  test.each([['working_dir'], ['workingDir']])(
    '[3.reserved-working-dir] %s is the directory of the call, relative to the caller’s',
    async (field) => {
      const tool = look({ [field]: z.string().optional() })
      expect(await call(tool, { [field]: '..' }, { cwd: '/usr/bin' })).toMatchObject({
        result: { cwd: '/usr' },
      })
      expect(await call(tool, { [field]: '/tmp' }, { cwd: '/usr' })).toMatchObject({
        result: { cwd: '/tmp' },
      })
      expect(await call(tool, {}, { cwd: '/usr' })).toMatchObject({ result: { cwd: '/usr' } })
      expect(await call(tool, { [field]: 'no-such' }, { cwd: '/usr' })).toMatchObject({
        error: {
          code: 'INVALID_PATH',
          field,
          message: `${field}: there is no directory 'no-such'`,
        },
      })
      expect(await call(tool, { [field]: 'a\0b' })).toMatchObject({
        error: { code: 'INVALID_PATH' },
      })
    },
  )

  test('[3.reserved-timeout] timeout bounds the call and is bounded itself', async () => {
    expect(await call(look({ timeout: z.number() }), { timeout: 50 })).toMatchObject({
      result: { left: 50 },
    })
    expect(await call(look({ timeout: z.string() }), { timeout: '2m' })).toMatchObject({
      result: { left: 120 },
    })
    expect(await call(look({ timeout: z.number().max(1000) }), { timeout: 900 })).toMatchObject({
      result: { left: 900 },
    })
    for (const timeout of [0, -1, 601])
      expect(await call(look({ timeout: z.number() }), { timeout })).toMatchObject({
        error: { code: 'INVALID_INPUT', field: 'timeout' },
      })
    expect(await call(look({ timeout: z.string() }), { timeout: 'soon' })).toMatchObject({
      error: { code: 'INVALID_INPUT', field: 'timeout' },
    })
    expect(await call(look({ timeout: z.number().nullable() }), { timeout: null })).toMatchObject({
      ok: true,
    })
  })

  test.each([['dry_run'], ['dryRun']])(
    '[3.reserved-dry-run] %s makes the call dry',
    async (field) => {
      expect(
        await call(look({ [field]: z.boolean().default(false) }), { [field]: true }),
      ).toMatchObject({ result: { dry_run: true }, meta: { dry_run: true } })
      expect(
        (await call(look({ [field]: z.boolean().default(false) }), {})).meta.dry_run,
      ).toBeUndefined()
    },
  )

  test('[3.reserved-verbose] verbose is a number or a switch', async () => {
    expect(await call(look({ verbose: z.number() }), { verbose: 3 })).toMatchObject({
      result: { verbose: 3 },
    })
    expect(await call(look({ verbose: z.boolean() }), { verbose: true })).toMatchObject({
      result: { verbose: 1 },
    })
  })

  test('[3.reserved-inactive] a reserved field that is not declared is an unknown key', async () => {
    for (const field of ['working_dir', 'timeout', 'dry_run', 'verbose'])
      expect(await call(look({}), { [field]: 1 })).toMatchObject({
        error: {
          code: 'INVALID_INPUT',
          message: expect.stringContaining(`unknown key '${field}'`),
        },
      })
  })
})

describe('sampling', () => {
  const sample = (options?: Parameters<Context['sample']>[1]) =>
    made((ctx) => ctx.sample('Say hi', options))

  test('[3.context-sample] the caller’s model answers, with the parameters of the tool', async () => {
    const sampler = vi.fn((_request: SampleRequest, _signal: AbortSignal) => 'hi')
    await expect(sample()({}, { sample: sampler })).resolves.toBe('hi')
    expect(sampler).toHaveBeenLastCalledWith(
      { id: expect.stringMatching(/^[0-9a-f]{8}$/), prompt: 'Say hi', max_tokens: 1000 },
      expect.any(AbortSignal),
    )
    await sample({ maxTokens: 5, system: 'Be brief', temperature: 0, stopSequences: ['.'] })(
      {},
      { sample: async (...given) => sampler(...given) },
    )
    expect(sampler).toHaveBeenLastCalledWith(
      {
        id: expect.any(String),
        prompt: 'Say hi',
        max_tokens: 5,
        system: 'Be brief',
        temperature: 0,
        stop_sequences: ['.'],
      },
      expect.any(AbortSignal),
    )
  })

  test('[3.context-sample] without a model it is ANSWER_REQUIRED with the way to connect one', async () => {
    expect(await call(sample())).toMatchObject({
      error: {
        code: 'ANSWER_REQUIRED',
        suggestion: { fix: expect.stringContaining('--sample-via') },
      },
    })
  })

  test('[3.context-sample] a model that is silent, broken or speaks no text', async () => {
    expect(
      await call(sample({ timeout: 0.01 }), {}, { sample: () => new Promise(() => undefined) }),
    ).toMatchObject({ error: { code: 'TIMEOUT', message: 'no answer within 0.01 seconds' } })
    expect(
      await call(
        sample(),
        {},
        {
          sample: () => {
            throw new Error('no key')
          },
        },
      ),
    ).toMatchObject({ error: { code: 'INTERNAL', message: 'no key' } })
    for (const odd of [5, null, undefined, { text: 'hi' }])
      expect(await call(sample(), {}, { sample: () => odd as never })).toMatchObject({
        error: { code: 'DEPENDENCY', message: 'the completion that came back is not text' },
      })
    expect(await call(sample({ timeout: -1 }), {}, { sample: () => 'x' })).toMatchObject({
      error: { code: 'INVALID_INPUT' },
    })
  })

  test('[3.context-sample] the signal of the model aborts with the call', async () => {
    const controller = new AbortController()
    let inner: AbortSignal | undefined
    expect(
      await call(
        sample(),
        {},
        {
          signal: controller.signal,
          sample: (_request, signal) => {
            inner = signal
            queueMicrotask(() => controller.abort())
            return new Promise(() => undefined)
          },
        },
      ),
    ).toMatchObject({ error: { code: 'CANCELLED' } })
    expect(inner?.aborted).toBe(true)
  })

  test('a tool may catch the failure and go on', async () => {
    await expect(
      made(async (ctx) => ctx.sample('x').catch(() => 'without a model'))(),
    ).resolves.toBe('without a model')
  })
})

describe('a context', () => {
  test('can be taken apart, spread and built upon', async () => {
    const outcome = await call(
      made((ctx) => {
        const { log, secret, dryRun } = ctx
        log('taken out')
        const spread = { ...ctx, cwd: '/elsewhere' }
        spread.log('spread')
        const built = Object.create(ctx) as Context
        built.log('built upon')
        return [
          dryRun,
          spread.dryRun,
          spread.caller,
          spread.cwd,
          built.signal === ctx.signal,
          built.state === ctx.state,
          secret('key'),
        ]
      }),
      {},
      { caller: 'somebody', secrets: { key: 'value' } },
    )
    expect(outcome).toMatchObject({
      result: [false, false, 'somebody', '/elsewhere', true, true, 'value'],
    })
  })
})
