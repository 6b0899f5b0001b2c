import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createContext, runInContext } from 'node:vm'
import { z } from 'zod'
import { call, fail, stream, tool, toolset } from 'toolable'

const minimal = { name: 'breaks', summary: 'Breaks' }
const throwing = (thrown: unknown) =>
  tool({
    ...minimal,
    run: () => {
      throw thrown
    },
  })
const stray: unknown[] = []
const remember = (reason: unknown) => void stray.push(reason)
beforeEach(() => {
  stray.length = 0
  process.on('unhandledRejection', remember)
})
afterEach(async () => {
  // Unhandled rejections are told when the microtasks are done.
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', remember)
  expect(stray).toEqual([])
})

const hostile = new Proxy(
  {},
  {
    get() {
      throw new Error('get')
    },
    getPrototypeOf() {
      throw new Error('prototype')
    },
    has() {
      throw new Error('has')
    },
  },
)
const revoked = Proxy.revocable({}, {})
revoked.revoke()
const oddMessage = Object.assign(new Error('x'), {
  message: {
    toString() {
      throw new Error('no text')
    },
  },
})

describe('whatever is thrown', () => {
  test.each<[string, unknown, string | RegExp]>([
    ['an error', new Error('broken'), 'broken'],
    ['an error without message', new TypeError(), "Tool 'breaks' raised TypeError"],
    ['another error without message', new RangeError(), 'RangeError'],
    ['a text', 'broken', 'broken'],
    ['an empty text', '', 'the tool threw an empty string'],
    ['null', null, 'the tool threw null'],
    ['undefined', undefined, 'the tool threw undefined'],
    ['a number', 42, 'the tool threw 42'],
    ['a symbol', Symbol('x'), 'the tool threw Symbol(x)'],
    ['an object', { a: 1 }, 'the tool threw {"a":1}'],
    ['a function', () => 1, /^the tool threw /],
    [
      'a cyclic object',
      (() => {
        const a: { a?: unknown } = {}
        a.a = a
        return a
      })(),
      /cannot be shown/,
    ],
    [
      'a throwing toString',
      {
        toString() {
          throw new Error('x')
        },
        toJSON() {
          throw new Error('x')
        },
      },
      /cannot be shown/,
    ],
    ['a BigInt inside', { n: 1n }, /cannot be shown/],
    ['a hostile Proxy', hostile, /cannot be shown/],
    ['a revoked Proxy', revoked.proxy, /cannot be shown/],
    ['an error with an odd message', oddMessage, /cannot be shown/],
    ['a false ToolError', { [Symbol.for('toolable.error')]: true }, 'the tool threw {}'],
    ['a frozen error', Object.freeze(new Error('cold')), 'cold'],
    [
      'an error of another realm',
      runInContext('new RangeError("foreign")', createContext()),
      'foreign',
    ],
    ['a very long text', 'x'.repeat(100), 'x'.repeat(100)],
  ])(
    '[4.failure-is-a-value] [3.call-never-throws] %s is a failed outcome',
    async (_what, thrown, message) => {
      for (const outcome of [
        await call(throwing(thrown)),
        await call(tool({ ...minimal, run: () => Promise.reject(thrown) })),
        await toolset(throwing(thrown)).call('breaks'),
      ]) {
        expect(outcome).toMatchObject({
          ok: false,
          status: 'error',
          error: {
            message: typeof message === 'string' ? message : expect.stringMatching(message),
          },
        })
        expect(() => JSON.stringify(outcome)).not.toThrow()
      }
      await expect(throwing(thrown)()).rejects.toMatchObject({ name: 'ToolError' })
    },
  )

  test('[4.failure-is-a-value] a thenable that breaks', async () => {
    const breaks = {
      then() {
        throw new Error('no then')
      },
    }
    expect(await call(tool({ ...minimal, run: () => breaks as never }))).toMatchObject({
      ok: false,
      error: { message: 'no then' },
    })
  })

  test('an author’s class that overrides too much', async () => {
    const { ToolError } = await import('toolable')
    class Odd extends ToolError {
      override toObject(): never {
        throw new Error('no')
      }
    }
    expect(await call(throwing(new Odd('NOT_FOUND', 'x')))).toMatchObject({
      ok: false,
      error: { code: 'INTERNAL' },
    })
  })

  test('details that JSON cannot carry do not cost the rest', async () => {
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    const outcome = await call(
      tool({
        ...minimal,
        run: () =>
          fail('CONFLICT', 'two of them', {
            details: { when: new Date(0), cycle, big: 1n, none: undefined, fine: [1] },
            suggestion: { fix: 'x', input: { map: new Map() } },
          }),
      }),
    )
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        code: 'CONFLICT',
        details: {
          when: '1970-01-01T00:00:00.000Z',
          cycle: '[cannot be shown as JSON]',
          big: '[cannot be shown as JSON]',
          fine: [1],
        },
        suggestion: { input: { map: '[cannot be shown as JSON]' } },
      },
    })
    expect(() => JSON.stringify(outcome)).not.toThrow()
  })
})

describe('what comes too late', () => {
  test('[4.failure-is-a-value] a handler that rejects after its deadline reaches nobody', async () => {
    let reject = (_error: Error): void => undefined
    const late = tool({
      ...minimal,
      timeout: '10ms',
      run: () =>
        new Promise<never>((_resolve, no) => {
          reject = no
        }),
    })
    expect(await call(late)).toMatchObject({ ok: false, error: { code: 'TIMEOUT' } })
    reject(new Error('too late'))
  })

  test('[4.failure-is-a-value] a handler that resolves after it was cancelled reaches nobody', async () => {
    const controller = new AbortController()
    let resolve = (_value: string): void => undefined
    const events: unknown[] = []
    const late = tool({
      ...minimal,
      run: (_input, ctx) =>
        new Promise<string>((yes) => {
          resolve = (value) => {
            ctx.progress('late')
            ctx.artifact('late', 'x')
            yes(value)
          }
          controller.abort()
        }),
    })
    const outcome = await call(
      late,
      {},
      { signal: controller.signal, onEvent: (event) => void events.push(event.type) },
    )
    resolve('late')
    await new Promise((done) => setImmediate(done))
    expect(outcome).toMatchObject({ ok: false, error: { code: 'CANCELLED' } })
    expect(outcome.meta.artifacts).toBeUndefined()
    expect(events).toEqual(['tool_invoked'])
  })

  test('a question after the end of the call is refused', async () => {
    let ask: () => Promise<unknown> = async () => undefined
    await call(
      tool({
        ...minimal,
        run: (_input, ctx) => {
          ask = () => ctx.ask({ kind: 'confirm', prompt: 'Still there?' })
        },
      }),
      {},
      { answer: () => true },
    )
    await expect(ask()).rejects.toMatchObject({ code: 'CANCELLED', message: 'the call is over' })
  })
})

describe('observers that break', () => {
  const talks = tool({
    ...minimal,
    run: async (_input, ctx) => {
      ctx.progress('one')
      await new Promise((resolve) => setImmediate(resolve))
      return 'done'
    },
  })

  test('[4.failure-is-a-value] an observer that throws or rejects fails the call and not the host', async () => {
    for (const onEvent of [
      () => {
        throw new Error('no disk')
      },
      async () => Promise.reject(new Error('no disk')),
    ]) {
      expect(
        await call(
          talks,
          {},
          { onEvent: (event) => (event.type === 'progress' ? onEvent() : undefined) },
        ),
      ).toMatchObject({ ok: false, error: { message: 'no disk' } })
    }
  })

  test('an observer that breaks after the end changes nothing', async () => {
    for (const onEvent of [
      () => {
        throw new Error('x')
      },
      async () => Promise.reject(new Error('x')),
    ]) {
      expect(
        await call(
          talks,
          {},
          { onEvent: (event) => (event.type === 'tool_invoked' ? onEvent() : undefined) },
        ),
      ).toMatchObject({ ok: true, result: 'done' })
    }
  })
})

describe('generators that misbehave', () => {
  test.each<[string, unknown]>([
    ['null', null],
    ['undefined', undefined],
    ['a text', 'progress'],
    ['an object', { message: 'x' }],
    ['an unknown type', { type: 'banana' }],
    ['a prototype name', { type: 'constructor' }],
    [
      'a cyclic object',
      (() => {
        const a: { a?: unknown } = {}
        a.a = a
        return a
      })(),
    ],
  ])(
    '[4.failure-is-a-value] yielding %s is INTERNAL and says what to yield',
    async (_what, value) => {
      let cleaned = false
      const odd = tool({
        ...minimal,
        *run() {
          try {
            yield value
            return 1
          } finally {
            cleaned = true
          }
        },
      })
      expect(await call(odd)).toMatchObject({
        ok: false,
        error: {
          code: 'INTERNAL',
          message: expect.stringContaining(
            'a generator tool must yield events such as stream.progress(',
          ),
        },
      })
      expect(cleaned).toBe(true)
    },
  )

  test('[4.failure-is-a-value] throwing in the middle', async () => {
    const events: string[] = []
    const breaks = tool({
      ...minimal,
      async *run() {
        yield stream.progress('one')
        throw new Error('middle')
      },
    })
    expect(
      await call(breaks, {}, { onEvent: (event) => void events.push(event.type) }),
    ).toMatchObject({ ok: false, error: { message: 'middle' } })
    expect(events).toEqual(['progress', 'tool_invoked'])
  })

  test('[4.failure-is-a-value] clean-up that never ends or throws does not hold the answer back', async () => {
    const hangs = tool({
      ...minimal,
      timeout: '20ms',
      async *run() {
        try {
          yield stream.progress('x')
          await new Promise(() => undefined)
        } finally {
          await new Promise(() => undefined)
        }
      },
    })
    expect(await call(hangs)).toMatchObject({ ok: false, error: { code: 'TIMEOUT' } })
    const sync = tool({
      ...minimal,
      *run() {
        try {
          yield { type: 'session_end', status: 'success' }
          yield stream.progress('more')
        } finally {
          throw new Error('clean-up')
        }
      },
    })
    expect(await call(sync)).toMatchObject({ ok: true, result: null })
  })

  test('an error in an abort listener of the handler does not change the answer', async () => {
    const calls: string[] = []
    const listens = tool({
      ...minimal,
      timeout: '300ms',
      run: (_input, ctx) =>
        new Promise(() => ctx.signal.addEventListener('abort', () => calls.push('told'))),
    })
    expect(await call(listens)).toMatchObject({ ok: false, error: { code: 'TIMEOUT' } })
    expect(calls).toEqual(['told'])
  })
})

test('[3.call-never-throws] what is no tool, and junk as options, are failed outcomes', async () => {
  for (const odd of [undefined, null, {}, () => 1, 'tool'])
    expect(await call(odd as never)).toMatchObject({ ok: false, error: { code: 'CONFIG' } })
  const fine = tool({ ...minimal, input: z.object({}), run: () => 1 })
  for (const timeout of [-1, 'x', {}, NaN])
    expect(await call(fine, {}, { timeout: timeout as never })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', field: 'timeout' },
    })
  expect(await call(fine, {}, { idempotencyKey: '' })).toMatchObject({
    ok: false,
    error: { code: 'INVALID_INPUT' },
  })
})
