import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { call, fail, ok, partial, stream, tool, ToolError } from 'toolable'

const minimal = { name: 'find_files', summary: 'Find' }

describe('a tool is a function', () => {
  const double = tool({
    ...minimal,
    input: z.object({ n: z.number(), plus: z.number().default(0) }),
    run: ({ n, plus }) => n * 2 + plus,
  })

  test('[3.tool-is-function] with a name, that can be called, passed on and kept in lists', async () => {
    expect(typeof double).toBe('function')
    expect(double.name).toBe('find_files')
    await expect(double({ n: 2 })).resolves.toBe(4)
    await expect(double({ n: 2, plus: 1 })).resolves.toBe(5)
    expect(await Promise.all([1, 2].map((n) => [double][0]!({ n })))).toEqual([2, 4])
    await expect(double.call(undefined, { n: 1 })).resolves.toBe(2)
    await expect(double.apply(null, [{ n: 1 }])).resolves.toBe(2)
  })

  test('[3.tool-is-function] it gives the value itself, not its JSON form', async () => {
    const date = new Date(0)
    await expect(tool({ ...minimal, run: () => ({ date }) })()).resolves.toEqual({ date })
    await expect(tool({ ...minimal, run: () => undefined })()).resolves.toBeUndefined()
    await expect(
      tool({ ...minimal, run: () => ok({ a: 1 }, { message: 'x' }) })(),
    ).resolves.toEqual({ a: 1 })
    await expect(
      tool({ ...minimal, run: () => partial(['a'], [new Error('x')]) })(),
    ).resolves.toEqual(['a'])
    await expect(
      tool({
        ...minimal,
        async *run() {
          yield stream.progress('x')
          return 7
        },
      })(),
    ).resolves.toBe(7)
  })

  test('[3.tool-is-function] one tool calls another', async () => {
    const outer = tool({ ...minimal, name: 'outer', run: async () => (await double({ n: 3 })) + 1 })
    await expect(outer()).resolves.toBe(7)
    const failing = tool({ ...minimal, name: 'outer', run: () => double({ n: 'x' } as never) })
    expect(await call(failing)).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', field: 'n' },
    })
  })
})

describe('a direct call throws', () => {
  test('[3.tool-throws-tool-error] the very error of the handler', async () => {
    const cause = new Error('cause')
    const error = new ToolError('CONFLICT', 'taken', {
      details: { by: 'me' },
      field: 'name',
      cause,
    })
    const thrown = await tool({
      ...minimal,
      run: () => {
        throw error
      },
    })().catch((caught: unknown) => caught)
    expect(thrown).toBe(error)
    expect(thrown).toBeInstanceOf(ToolError)
    expect(thrown).toBeInstanceOf(Error)
    expect(thrown).toMatchObject({
      name: 'ToolError',
      code: 'CONFLICT',
      category: 'state',
      recoverable: true,
      retryable: false,
      details: { by: 'me' },
      field: 'name',
      cause,
    })
  })

  test('[3.tool-throws-tool-error] also what the pipeline refuses, with the same facts as the outcome', async () => {
    const typed = tool({
      ...minimal,
      input: z.object({ n: z.number() }),
      timeout: '300ms',
      run: ({ n }) => (n > 0 ? new Promise<never>(() => undefined) : fail('E3101', 'negative')),
      errors: { E3101: { category: 'auth', message: 'Negative', retryable: true } },
    })
    for (const input of [{}, { n: 'x' }, { n: 1 }, { n: -1 }, { m: 1 }]) {
      const outcome = await call(typed, input as never)
      const thrown = (await typed(input as never).catch((caught: unknown) => caught)) as ToolError
      expect(thrown).toBeInstanceOf(ToolError)
      expect(thrown.toObject()).toEqual((outcome as { error: object }).error)
    }
  })

  test('[3.tool-throws-tool-error] with the cause where something else was thrown', async () => {
    const cause = new TypeError('odd')
    await expect(
      tool({
        ...minimal,
        run: () => {
          throw cause
        },
      })(),
    ).rejects.toMatchObject({
      code: 'INTERNAL',
      message: "Tool 'find_files' raised TypeError: odd",
      cause,
      details: { name: 'TypeError' },
    })
    await expect(
      tool({
        ...minimal,
        run: () => {
          throw 'text' as unknown
        },
      })(),
    ).rejects.toMatchObject({ code: 'INTERNAL', cause: 'text' })
  })

  test('[3.tool-throws-tool-error] subclasses stay what they are', async () => {
    class Mine extends ToolError {
      readonly extra = 1
    }
    const thrown = await tool({
      ...minimal,
      errors: { E3101: 'Declared' },
      run: () => {
        throw new Mine('E3101')
      },
    })().catch((caught: unknown) => caught)
    expect(thrown).toBeInstanceOf(Mine)
    expect(thrown).toMatchObject({ extra: 1, message: 'Declared' })
  })
})

describe('errors of another copy of the package', () => {
  // What a second installation would throw: the same brand, another class.
  class ForeignError extends Error {
    code = 'RATE_LIMIT'
    category = 'runtime'
    recoverable = false
    retryable = true
    details = { wait: 5 }
    constructor() {
      super('slow down')
      Object.defineProperty(this, Symbol.for('toolable.error'), { value: true })
    }
  }

  test('[3.tool-throws-tool-error] are known by ToolError.is and keep their meaning', async () => {
    expect(ToolError.is(new ForeignError())).toBe(true)
    for (const other of [new Error('x'), null, undefined, 'x', {}])
      expect(ToolError.is(other)).toBe(false)
    const foreign = tool({
      ...minimal,
      run: () => {
        throw new ForeignError()
      },
    })
    expect(await call(foreign)).toMatchObject({
      error: {
        code: 'RATE_LIMIT',
        category: 'runtime',
        message: 'slow down',
        retryable: true,
        details: { wait: 5 },
      },
    })
    await expect(foreign()).rejects.toBeInstanceOf(ToolError)
  })
})
