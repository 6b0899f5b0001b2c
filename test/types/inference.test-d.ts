import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { call, jsonSchema, ok, partial, session, stream, tool, toolset } from 'toolable'
import type { CallEvent, Context, Outcome, Session, SessionAnswer, Stream } from 'toolable'

declare const number: number
declare const text: string
const minimal = { name: 'find', summary: 'Find' }

describe('[3.types-inferred] the input', () => {
  test('of zod: defaults are optional at the call and present in run', () => {
    const find = tool({
      ...minimal,
      input: z.object({
        pattern: z.string(),
        root: z.string().default('.'),
        depth: z.number().optional(),
        at: z.string().transform((given) => given.length),
      }),
      run: (input, ctx) => {
        expectTypeOf(input).toEqualTypeOf<{
          pattern: string
          root: string
          depth?: number | undefined
          at: number
        }>()
        expectTypeOf(ctx).toEqualTypeOf<Context>()
        return input.at
      },
    })
    expectTypeOf(find)
      .parameter(0)
      .toEqualTypeOf<{
        pattern: string
        root?: string | undefined
        depth?: number | undefined
        at: string
      }>()
    expectTypeOf(find({ pattern: '*', at: 'x' })).resolves.toEqualTypeOf<number>()
    // @ts-expect-error pattern is required
    void find({ at: 'x' })
    // @ts-expect-error an input is required
    void find()
    // @ts-expect-error wrong type
    void find({ pattern: 5, at: 'x' })
    // @ts-expect-error unknown field
    void find({ pattern: '*', at: 'x', more: 1 })
  })

  test('of zod: nothing required, nothing has to be given', () => {
    const find = tool({
      ...minimal,
      input: z.object({ root: z.string().default('.') }),
      run: ({ root }) => root,
    })
    expectTypeOf(find()).resolves.toEqualTypeOf<string>()
    expectTypeOf(call(find)).resolves.toEqualTypeOf<Outcome<string>>()
  })

  test('of arktype', () => {
    const find = tool({
      ...minimal,
      input: type({ pattern: 'string', 'depth?': 'number' }),
      run: (input) => {
        expectTypeOf(input).toEqualTypeOf<{ pattern: string; depth?: number }>()
        return input.pattern
      },
    })
    expectTypeOf(find({ pattern: '*' })).resolves.toEqualTypeOf<string>()
  })

  test('of wrapped valibot', () => {
    const find = tool({
      ...minimal,
      input: toStandardJsonSchema(
        v.object({ pattern: v.string(), root: v.optional(v.string(), '.') }),
      ),
      run: (input) => {
        expectTypeOf(input).toEqualTypeOf<{ pattern: string; root: string }>()
        return input
      },
    })
    expectTypeOf(find({ pattern: '*' })).resolves.toEqualTypeOf<{ pattern: string; root: string }>()
  })

  test('[3.plain-json-schema] of jsonSchema<T>, of plain JSON Schema, and of nothing', () => {
    const typed = tool({
      ...minimal,
      input: jsonSchema<{ pattern: string }>({ type: 'object' }),
      run: ({ pattern }) => pattern,
    })
    expectTypeOf(typed).parameter(0).toEqualTypeOf<{ pattern: string }>()
    const plain = tool({
      ...minimal,
      input: { type: 'object', properties: { a: { type: 'string' } } },
      run: (input) => {
        expectTypeOf(input).toEqualTypeOf<Record<string, unknown>>()
      },
    })
    expectTypeOf(plain).parameter(0).toEqualTypeOf<Record<string, unknown> | undefined>()
    const none = tool({ ...minimal, run: () => text })
    expectTypeOf(none()).resolves.toEqualTypeOf<string>()
    // @ts-expect-error there are no fields
    void none({ a: 1 })
  })

  test('[3.schema-thunk] of thunks', () => {
    const lazy = tool({
      ...minimal,
      input: () => z.object({ a: z.number() }),
      output: () => z.object({ b: z.number() }),
      run: ({ a }) => ({ b: a }),
    })
    expectTypeOf(lazy).parameter(0).toEqualTypeOf<{ a: number }>()
    expectTypeOf(lazy({ a: 1 })).resolves.toEqualTypeOf<{ b: number }>()
  })

  test('reaches the hooks', () => {
    tool({
      ...minimal,
      input: z.object({ a: z.string().default('x') }),
      preValidate: (input, ctx) => {
        expectTypeOf(input).toEqualTypeOf<{ a: string }>()
        expectTypeOf(ctx).toEqualTypeOf<Context>()
      },
      context: (input) => {
        expectTypeOf(input).toEqualTypeOf<{ a: string }>()
        return {}
      },
      redact: (input) => {
        expectTypeOf(input).toEqualTypeOf<{ a: string }>()
        return {}
      },
      run: () => 1,
    })
  })
})

describe('[3.types-inferred] the result', () => {
  test('is what run returns, promises and replies unwrapped', () => {
    expectTypeOf(tool({ ...minimal, run: async () => ({ a: number }) })()).resolves.toEqualTypeOf<{
      a: number
    }>()
    expectTypeOf(
      tool({ ...minimal, run: () => ok({ a: number }, { message: 'x' }) })(),
    ).resolves.toEqualTypeOf<{ a: number }>()
    expectTypeOf(
      tool({ ...minimal, run: async () => partial([text], [new Error('x')]) })(),
    ).resolves.toEqualTypeOf<string[]>()
    expectTypeOf(tool({ ...minimal, run: () => undefined })()).resolves.toEqualTypeOf<undefined>()
  })

  test('is the output of the output schema, with or without run', () => {
    const output = z.object({ n: z.number(), note: z.string().default('none') })
    expectTypeOf(tool({ ...minimal, output, run: () => ({ n: 1 }) })()).resolves.toEqualTypeOf<{
      n: number
      note: string
    }>()
    expectTypeOf(tool({ ...minimal, output })()).resolves.toEqualTypeOf<{
      n: number
      note: string
    }>()
    expectTypeOf(tool({ ...minimal })()).resolves.toEqualTypeOf<unknown>()
    expectTypeOf(
      tool({
        ...minimal,
        output: z.string().transform((given) => given.length),
        run: () => 'four',
      })(),
    ).resolves.toEqualTypeOf<number>()
  })

  test('[3.run-generator-streaming] of a stream is what it returns, else what its result event carries', () => {
    expectTypeOf(
      tool({
        ...minimal,
        async *run() {
          yield stream.progress('x')
          return { a: number }
        },
      })(),
    ).resolves.toEqualTypeOf<{ a: number }>()
    expectTypeOf(
      tool({
        ...minimal,
        *run() {
          yield stream.progress('x')
          yield stream.result({ a: number })
        },
      })(),
    ).resolves.toEqualTypeOf<{ a: number }>()
    expectTypeOf(
      tool({
        ...minimal,
        *run() {
          yield stream.progress('x')
        },
      })(),
    ).resolves.toEqualTypeOf<null>()
    expectTypeOf(
      tool({
        ...minimal,
        run(): Stream<string> {
          return null as never
        },
      })(),
    ).resolves.toEqualTypeOf<string>()
    tool({
      ...minimal,
      output: z.number(),
      async *run() {
        yield stream.progress('x')
        return 1
      },
    })
  })

  test('[3.run-generator-session] of a session is what it returns, and its answers are objects', () => {
    const chat = tool({
      ...minimal,
      async *run(): AsyncGenerator<ReturnType<typeof session.ask>, number, SessionAnswer> {
        const answer = yield session.ask()
        expectTypeOf(answer).toEqualTypeOf<SessionAnswer>()
        return 1
      },
    })
    expectTypeOf(chat()).resolves.toEqualTypeOf<number>()
    expectTypeOf(
      tool({
        ...minimal,
        run(): Session<string> {
          return null as never
        },
      })(),
    ).resolves.toEqualTypeOf<string>()
  })
})

test('[3.tool-is-function] tools of any type go together in a toolset', () => {
  const a = tool({ ...minimal, input: z.object({ a: z.string() }), run: ({ a: given }) => given })
  const b = tool({
    ...minimal,
    name: 'other',
    run: async function* () {
      yield stream.progress('x')
    },
  })
  expectTypeOf(
    toolset({ name: 'prog', tools: [a, b] }).call('find'),
  ).resolves.toEqualTypeOf<Outcome>()
  toolset({ name: 'prog', tools: { a, group: [b], deep: { er: a } } })
  toolset(a).add(b, 'third')
  expectTypeOf(a.name).toEqualTypeOf<string>()
})

test('[3.stream-events] streams and outcomes are discriminated', async () => {
  const find = tool({ ...minimal, run: () => ({ n: number }) })
  const outcome = await call(find)
  if (outcome.ok) expectTypeOf(outcome.result).toEqualTypeOf<{ n: number }>()
  else expectTypeOf(outcome.error.code).toEqualTypeOf<string>()
  if (outcome.status === 'partial') expectTypeOf(outcome.summary.failed).toEqualTypeOf<number>()
  for await (const event of find.stream()) {
    expectTypeOf(event).toEqualTypeOf<CallEvent>()
    if (event.type === 'progress') expectTypeOf(event.percent).toEqualTypeOf<number | undefined>()
  }
})
