import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { call, fail, ok, partial, stream, tool, ToolError } from 'toolable'

const minimal = { name: 'gives', summary: 'Gives' }
const giving = (value: unknown) => tool({ ...minimal, run: () => value as never })
const meta = { tool: 'gives', duration_ms: expect.any(Number) as number }

describe('the envelope', () => {
  test('[4.envelope-success] [3.run-sync-or-async] a success, keys in order, absent values left out', async () => {
    for (const gives of [
      tool({ ...minimal, run: () => ({ a: 1 }) }),
      tool({ ...minimal, run: async () => ({ a: 1 }) }),
    ]) {
      const outcome = await call(gives)
      expect(outcome).toEqual({ ok: true, status: 'success', result: { a: 1 }, meta })
      expect(Object.keys(outcome)).toEqual(['ok', 'status', 'result', 'meta'])
      expect(Object.keys(outcome.meta)).toEqual(['tool', 'duration_ms'])
    }
  })

  test('[4.envelope-error] an error, keys in order', async () => {
    const outcome = await call(
      tool({
        ...minimal,
        run: () =>
          fail('NOT_FOUND', 'no note 7', {
            suggestion: { fix: 'list them', input: { id: '8' } },
            field: 'id',
            details: { id: 7 },
          }),
      }),
    )
    expect(outcome).toEqual({
      ok: false,
      status: 'error',
      error: {
        code: 'NOT_FOUND',
        category: 'state',
        message: 'no note 7',
        recoverable: true,
        retryable: false,
        suggestion: {
          action: 'retry_with_modified_input',
          fix: 'list them',
          input: { id: '8' },
          applicability: 'maybe_incorrect',
        },
        field: 'id',
        details: { id: 7 },
      },
      meta,
    })
    expect(Object.keys(outcome)).toEqual(['ok', 'status', 'error', 'meta'])
    expect(Object.keys((outcome as { error: object }).error)).toEqual([
      'code',
      'category',
      'message',
      'recoverable',
      'retryable',
      'suggestion',
      'field',
      'details',
    ])
    expect(
      Object.keys(
        (
          (await call(tool({ ...minimal, run: () => fail('CONFLICT', 'x') }))) as {
            error: object
          } & object
        )['error'],
      ),
    ).toEqual(['code', 'category', 'message', 'recoverable', 'retryable'])
  })

  test('[3.ok-outcome] [4.envelope-message] ok adds a message behind the result, and hides the value', async () => {
    const outcome = await call(giving(ok({ rows: 3 }, { message: 'Three rows', hidden: true })))
    expect(outcome).toEqual({
      ok: true,
      status: 'success',
      result: { rows: 3 },
      message: 'Three rows',
      hidden: true,
      meta,
    })
    expect(Object.keys(outcome)).toEqual(['ok', 'status', 'result', 'message', 'hidden', 'meta'])
    expect(await call(giving(ok(5)))).toEqual({ ok: true, status: 'success', result: 5, meta })
    expect(await call(giving(ok(5, { hidden: false, message: undefined as never })))).toEqual({
      ok: true,
      status: 'success',
      result: 5,
      meta,
    })
  })

  test('[4.envelope-meta] meta carries warnings, caller, dry run and artifacts where they apply', async () => {
    const full = tool({
      ...minimal,
      dryRun: true,
      run: (_input, ctx) => {
        ctx.artifact('report', 'file:///r.html')
        return { n: NaN }
      },
    })
    const outcome = await call(full, {}, { caller: 'agent' })
    expect(outcome.meta).toEqual({
      ...meta,
      warnings: ['result.n was NaN, which JSON cannot carry; it is null'],
      caller: 'agent',
      artifacts: [{ name: 'report', uri: 'file:///r.html' }],
    })
    expect(Object.keys(outcome.meta)).toEqual([
      'tool',
      'duration_ms',
      'warnings',
      'caller',
      'artifacts',
    ])
    expect((await call(full, {}, { dryRun: true })).meta.dry_run).toBe(true)
    expect(
      (
        await call(
          tool({
            ...minimal,
            run: (_input, ctx) => {
              ctx.artifact('log', 'a')
              throw new Error('x')
            },
          }),
        )
      ).meta.artifacts,
    ).toEqual([{ name: 'log', uri: 'a' }])
  })

  test('[4.envelope-meta] an artifact that a generator yields counts too', async () => {
    expect(
      (
        await call(
          tool({
            ...minimal,
            *run() {
              yield stream.artifact('a', 'file:///a')
            },
          }),
        )
      ).meta.artifacts,
    ).toEqual([{ name: 'a', uri: 'file:///a' }])
  })
})

describe('partial results', () => {
  test('[3.partial-outcome] [4.envelope-partial] some failed: ok, with errors and counts', async () => {
    const errors = [
      new ToolError('NOT_FOUND', 'no c'),
      { code: 'E4101', message: 'busy', retryable: true },
      new Error('broken'),
      Object.assign(new Error('gone'), { code: 'ENOENT' }),
    ]
    const outcome = await call(giving(partial({ done: ['a', 'b'] }, errors)))
    expect(outcome).toEqual({
      ok: true,
      status: 'partial',
      result: { done: ['a', 'b'] },
      errors: [
        {
          code: 'NOT_FOUND',
          category: 'state',
          message: 'no c',
          recoverable: true,
          retryable: false,
        },
        {
          code: 'E4101',
          category: 'runtime',
          message: 'busy',
          recoverable: false,
          retryable: true,
        },
        {
          code: 'INTERNAL',
          category: 'internal',
          message: 'broken',
          recoverable: false,
          retryable: false,
          details: { name: 'Error' },
        },
        {
          code: 'NOT_FOUND',
          category: 'state',
          message: 'gone',
          recoverable: true,
          retryable: false,
          details: { name: 'Error', errno: 'ENOENT' },
        },
      ],
      summary: { total: 6, succeeded: 2, failed: 4, recoverable_failures: 2 },
      meta,
    })
    expect(Object.keys(outcome)).toEqual(['ok', 'status', 'result', 'errors', 'summary', 'meta'])
  })

  test('[3.partial-outcome] the key says which list holds what succeeded', async () => {
    const result = { skipped: ['x', 'y', 'z'], done: ['a'] }
    expect(await call(giving(partial(result, [new Error('b')], 'done')))).toMatchObject({
      summary: { total: 2, succeeded: 1 },
    })
    expect(await call(giving(partial(result, [new Error('b')])))).toMatchObject({
      summary: { total: 4, succeeded: 3 },
    })
    expect(await call(giving(partial(['a'], [new Error('b')])))).toMatchObject({
      summary: { total: 2 },
    })
    expect(await call(giving(partial(result, [new Error('b')], 'constructor')))).toMatchObject({
      ok: false,
    })
  })

  test('[3.partial-outcome] without errors it is a success', async () => {
    expect(await call(giving(partial(['a'], [])))).toEqual({
      ok: true,
      status: 'success',
      result: ['a'],
      meta,
    })
  })

  test('[4.partial-nothing-succeeded] nothing succeeded: a failure with the first error', async () => {
    const one = await call(
      giving(partial([], [new ToolError('CONFLICT', 'taken', { field: 'name' })])),
    )
    expect(one).toEqual({
      ok: false,
      status: 'error',
      error: {
        code: 'CONFLICT',
        category: 'state',
        message: 'taken',
        recoverable: true,
        retryable: false,
        field: 'name',
      },
      errors: [expect.objectContaining({ code: 'CONFLICT' })],
      summary: { total: 1, succeeded: 0, failed: 1, recoverable_failures: 1 },
      meta,
    })
    expect(
      await call(giving(partial([], [new ToolError('CONFLICT', 'taken'), new Error('x')]))),
    ).toMatchObject({
      ok: false,
      error: { code: 'CONFLICT', message: 'all 2 items failed; the first: taken' },
    })
    await expect(giving(partial([], [new ToolError('CONFLICT', 'taken')]))()).rejects.toMatchObject(
      { name: 'ToolError', code: 'CONFLICT' },
    )
  })

  test('[3.declared-errors] declared codes decide about the errors inside', async () => {
    const declares = tool({
      ...minimal,
      errors: { E3101: { category: 'auth', message: 'No', retryable: true } },
      run: () => partial(['a'], [{ code: 'E3101', message: 'closed' }]),
    })
    expect(await call(declares)).toMatchObject({
      status: 'partial',
      errors: [{ code: 'E3101', category: 'auth', retryable: true, recoverable: false }],
      summary: { recoverable_failures: 0 },
    })
  })
})

describe('values', () => {
  test.each<[string, unknown]>([
    ['a status field', { status: 'active' }],
    ['an ok field', { ok: false }],
    ['a whole envelope', { ok: true, status: 'success', result: 1, meta: {} }],
    ['an error field', { error: { code: 'X' } }],
    ['a type field', { type: 'result', result: 5 }],
    ['false', false],
    ['zero', 0],
    ['an empty text', ''],
    ['null', null],
    ['a list', [1, 'a', null]],
  ])('an object with %s is a result and nothing else', async (_what, value) => {
    expect(await call(giving(value))).toEqual({ ok: true, status: 'success', result: value, meta })
  })

  class Money {
    constructor(readonly amount: number) {}
    toJSON() {
      return { euro: this.amount }
    }
  }
  class Itself {
    a = 1
    toJSON() {
      return this
    }
  }
  test.each<[string, unknown, unknown]>([
    ['undefined', undefined, null],
    ['undefined fields', { a: undefined, b: 1 }, { b: 1 }],
    ['undefined items', [undefined, 1], [null, 1]],
    ['dates', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    ['toJSON', [new Money(5)], [{ euro: 5 }]],
    ['toJSON that gives itself', new Itself(), { a: 1 }],
    ['an address', { at: new URL('http://a/b') }, { at: 'http://a/b' }],
    ['an error', new RangeError('far'), { name: 'RangeError', message: 'far' }],
    ['no prototype', Object.assign(Object.create(null) as object, { a: 1 }), { a: 1 }],
  ])('%s as JSON carries it', async (_what, value, json) => {
    expect(await call(giving(value))).toMatchObject({ ok: true, result: json })
  })

  const cycle: { list: unknown[] } = { list: [] }
  cycle.list.push({ back: cycle })
  test.each<[string, unknown, string, RegExp]>([
    ['a cycle', cycle, 'result.list[0].back', /contains it/],
    ['a BigInt', { a: [{ n: 1n }] }, 'result.a[0].n', /a BigInt/],
    ['a Map', { m: new Map() }, 'result.m', /a Map/],
    ['a Set', [new Set()], 'result[0]', /a Set/],
    ['a Buffer', { b: Buffer.from('x') }, 'result.b', /binary data/],
    ['bytes', new Uint8Array(2), 'result', /binary data/],
    ['a function', { f: () => 1 }, 'result.f', /a function/],
    ['a symbol', { s: Symbol('x') }, 'result.s', /a symbol/],
    ['a promise', { p: Promise.resolve(1) }, 'result.p', /a promise/],
    ['an invalid date', { d: new Date(NaN) }, 'result.d', /invalid date/],
    [
      'a toJSON that throws',
      {
        o: {
          toJSON() {
            throw new Error('no')
          },
        },
      },
      'result.o',
      /toJSON throws \(no\)/,
    ],
  ])('%s is INTERNAL and names the place', async (_what, value, place, words) => {
    const outcome = await call(giving(value))
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        code: 'INTERNAL',
        message: expect.stringMatching(words),
        suggestion: {
          action: 'abort',
          fix: expect.stringContaining('The author of the tool should'),
        },
      },
    })
    expect((outcome as { error: { message: string } }).error.message).toContain(`at ${place},`)
  })

  test('numbers that JSON has not become null with a warning each', async () => {
    expect(await call(giving({ a: NaN, b: [Infinity, -Infinity] }))).toMatchObject({
      result: { a: null, b: [null, null] },
      meta: {
        warnings: [
          expect.stringContaining('result.a was NaN'),
          expect.stringContaining('result.b[0] was Infinity'),
          expect.stringContaining('result.b[1] was -Infinity'),
        ],
      },
    })
  })

  test('a large result is not copied, and what appears twice is not a cycle', async () => {
    const rows = Array.from({ length: 200_000 }, (_, index) => ({ index, name: `row ${index}` }))
    const outcome = await call(giving(rows))
    expect(outcome.ok && outcome.result).toBe(rows)
    const shared = { a: 1 }
    expect(await call(giving({ first: shared, second: [shared, shared] }))).toMatchObject({
      ok: true,
      result: { first: { a: 1 }, second: [{ a: 1 }, { a: 1 }] },
    })
  })

  test('the author’s own object is never changed', async () => {
    const own = { at: new Date(0), none: undefined }
    await call(giving(own))
    expect(own).toEqual({ at: new Date(0), none: undefined })
    expect(Object.keys(own)).toEqual(['at', 'none'])
  })

  test('[4.prototype-keys] __proto__ in a result stays a key, also where something is converted', async () => {
    const value = JSON.parse('{"__proto__":{"a":1},"b":{"__proto__":2}}') as object
    expect(JSON.stringify(((await call(giving(value))) as { result: unknown }).result)).toBe(
      '{"__proto__":{"a":1},"b":{"__proto__":2}}',
    )
    const converted = JSON.parse('{"__proto__":{"when":1},"constructor":3}') as {
      ['__proto__']: { when: unknown }
    }
    Object.getOwnPropertyDescriptor(converted, '__proto__')!.value.when = new Date(0)
    const outcome = (await call(giving({ ...converted, n: new Date(0), inner: converted }))) as {
      result: { inner: object }
    }
    expect(JSON.stringify(outcome.result.inner)).toBe(
      '{"__proto__":{"when":"1970-01-01T00:00:00.000Z"},"constructor":3}',
    )
  })

  test('nesting without end is a failed result', async () => {
    let deep: unknown[] = []
    for (let index = 0; index < 100_000; index++) deep = [deep]
    expect(await call(giving(deep))).toMatchObject({ ok: false, error: { code: 'INTERNAL' } })
  })
})

describe('the output schema', () => {
  const output = z.object({
    items: z.array(z.object({ size: z.number() })),
    note: z.string().default('none'),
  })
  const declared = (value: unknown) => tool({ ...minimal, output, run: () => value as never })

  test('[4.output-validated] a result that does not fit is INTERNAL and names the place', async () => {
    const outcome = await call(declared({ items: [{ size: 1 }, { size: 'big' }] }))
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        code: 'INTERNAL',
        message: expect.stringMatching(
          /^tool 'gives' returned a result that its own output schema refuses: items\[1\]\.size|items\.1\.size/,
        ),
        details: { issues: [{ path: expect.stringContaining('size') }] },
      },
    })
    for (const wrong of [undefined, null, 'x', { items: [] as unknown[], extra: 1 }])
      expect(await call(declared(wrong))).toMatchObject({ ok: false, error: { code: 'INTERNAL' } })
  })

  test('[4.output-validated] defaults and transforms of the output apply, for every caller', async () => {
    expect(await call(declared({ items: [] }))).toMatchObject({
      ok: true,
      result: { items: [], note: 'none' },
    })
    const upper = tool({
      ...minimal,
      output: z.string().transform((text) => text.length),
      run: () => 'four',
    })
    await expect(upper()).resolves.toBe(4)
    expect(await call(upper)).toMatchObject({ result: 4 })
  })

  test('[4.output-validated] what ok, partial and generators give is checked too', async () => {
    for (const run of [
      () => ok('x'),
      () => partial('x', []),
      function* () {
        yield stream.result('x')
      },
      async function* () {
        return 'x'
      },
    ]) {
      expect(await call(tool({ ...minimal, output: z.number(), run: run as never }))).toMatchObject(
        { ok: false, error: { code: 'INTERNAL' } },
      )
    }
  })
})

test('a list with billions of holes is refused at once', async () => {
  const sparse: unknown[] = []
  sparse[4_000_000_000] = 1
  expect(await call(tool({ name: 'holes', summary: 'h', run: () => sparse }))).toMatchObject({
    ok: false,
    error: { code: 'INTERNAL', message: expect.stringContaining('a list with holes at result') },
  })
})
