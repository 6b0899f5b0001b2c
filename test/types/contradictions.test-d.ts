import { describe, test } from 'vitest'
import { z } from 'zod'
import { call, jsonSchema, ok, partial, stream, tool, toolset } from 'toolable'

const minimal = { name: 'find', summary: 'Find' }
const output = z.object({ n: z.number(), s: z.string() })

describe('[3.contradicting-types] what run returns and what output says', () => {
  test('a wrong type does not compile', () => {
    // @ts-expect-error a text is no number
    tool({ ...minimal, output: z.number(), run: () => 'x' })
    // @ts-expect-error a field of a wrong type
    tool({ ...minimal, output, run: () => ({ n: 'x', s: 'x' }) })
    // @ts-expect-error plain JSON Schema with a type
    // prettier-ignore
    tool({ ...minimal, output: jsonSchema<{ n: number }>({}), run: () => ({ n: 'x' }) })
    // @ts-expect-error nothing is no number
    tool({ ...minimal, output: z.number(), run: () => undefined })
  })

  test('a missing field does not compile', () => {
    // @ts-expect-error s is missing
    tool({ ...minimal, output, run: () => ({ n: 1 }) })
    // @ts-expect-error s may be missing
    // prettier-ignore
    tool({ ...minimal, output, run: () => (Math.random() > 1 ? { n: 1 } : { n: 1, s: 'x' }) })
  })

  test('a promise of a wrong type does not compile', () => {
    // @ts-expect-error a promise of a text
    tool({ ...minimal, output: z.number(), run: async () => 'x' })
    // @ts-expect-error a promise of too little
    tool({ ...minimal, output, run: () => Promise.resolve({ n: 1 }) })
  })

  test('a generator that returns a wrong type does not compile', () => {
    // @ts-expect-error returns a text
    // prettier-ignore
    tool({ ...minimal, output: z.number(), async *run() { yield stream.progress('x'); return 'x' } })
    // @ts-expect-error returns a text
    // prettier-ignore
    tool({ ...minimal, output: z.number(), *run() { yield stream.progress('x'); return 'x' } })
  })

  test('a reply around a wrong type does not compile', () => {
    // @ts-expect-error ok of a text
    tool({ ...minimal, output: z.number(), run: () => ok('x') })
    // @ts-expect-error partial of texts
    // prettier-ignore
    tool({ ...minimal, output: z.array(z.number()), run: () => partial(['x'], []) })
    // @ts-expect-error a promise of ok of a text
    // prettier-ignore
    tool({ ...minimal, output: z.number(), run: async () => ok('x', { message: 'x' }) })
  })

  test('what fits compiles, in every form', () => {
    tool({ ...minimal, output, run: () => ({ n: 1, s: 'x' }) })
    tool({ ...minimal, output, run: async () => ({ n: 1, s: 'x' }) })
    tool({ ...minimal, output, run: () => ok({ n: 1, s: 'x' }) })
    tool({
      ...minimal,
      output,
      run: async () => (Math.random() > 1 ? ok({ n: 1, s: 'x' }) : { n: 1, s: 'x' }),
    })
    tool({
      ...minimal,
      output,
      async *run() {
        yield stream.progress('x')
        return { n: 1, s: 'x' }
      },
    })
    tool({ ...minimal, output: z.enum(['a', 'b']), run: () => 'a' })
    tool({ ...minimal, output: z.string().default('x'), run: () => undefined })
    tool({ ...minimal, output: { type: 'object' }, run: () => ({ anything: 1 }) })
    tool({ ...minimal, output: z.unknown(), run: () => 5 })
  })
})

describe('other mistakes', () => {
  test('of definitions', () => {
    // @ts-expect-error no summary
    tool({ name: 'find' })
    // @ts-expect-error no such annotation
    tool({ ...minimal, annotations: { readonly: true } })
    // @ts-expect-error no schema
    tool({ ...minimal, input: 'string' })
    // @ts-expect-error no function
    tool({ ...minimal, run: 5 })
    // @ts-expect-error a function is no tool
    void toolset({ name: 'prog', tools: [() => 1] })
  })

  test('of calls', () => {
    const find = tool({ ...minimal, input: z.object({ a: z.string() }), run: () => 1 })
    // @ts-expect-error an input is required
    void call(find)
    // @ts-expect-error wrong input
    void call(find, { a: 1 })
    // @ts-expect-error no such option
    void call(find, { a: 'x' }, { timout: 5 })
    // @ts-expect-error options are checked in a direct call too
    void find({ a: 'x' }, { signal: 5 })
  })
})
