import { expectTypeOf, test } from 'vitest'
import { jsonSchema, tool } from 'toolable'
import { z } from 'zod'

const output = z.object({
  path: z.string(),
  kind: z.enum(['a', 'b']),
  list: z.array(z.object({ kind: z.literal('x') })),
})
const base = { name: 'some', summary: 'Some' }

test('a literal in the result is the one that the output schema names [3.types-inferred]', () => {
  const plain = tool({
    ...base,
    output,
    run: () => ({ path: 'p', kind: 'a', list: [{ kind: 'x' }] }),
  })
  expectTypeOf(plain()).resolves.toEqualTypeOf<z.infer<typeof output>>()
  tool({ ...base, output, run: async () => ({ path: 'p', kind: 'a', list: [] }) })
  tool({ ...base, output: () => output, run: async () => ({ path: 'p', kind: 'a', list: [] }) })
  tool({
    ...base,
    input: z.object({ name: z.string() }),
    output,
    async run({ name }, ctx) {
      if (ctx.dryRun) return { path: name, kind: 'a', list: [{ kind: 'x' }] }
      const kind = await ctx.ask({ kind: 'decision', prompt: name, options: ['a', 'b'] })
      return { path: name, kind, list: [] }
    },
  })
})

test('a result that contradicts the output schema does not compile [3.contradicting-types]', () => {
  // @ts-expect-error kind is 'a' or 'b'
  tool({ ...base, output, run: () => ({ path: 'p', kind: 'c', list: [] }) })
  // @ts-expect-error kind is 'a' or 'b', in the list 'x'
  // prettier-ignore
  tool({ ...base, output, run: async () => ({ path: 'p', kind: 'a', list: [{ kind: 'y' }] }) })
  // @ts-expect-error path is missing
  tool({ ...base, output, run: async () => ({ kind: 'a', list: [] }) })
  tool({
    ...base,
    output,
    // @ts-expect-error a number is no object
    async *run() {
      yield { type: 'log' }
      return 1
    },
  })
})

test('without output the result is what run returns [3.types-inferred]', () => {
  const counted = tool({
    ...base,
    input: z.object({ text: z.string() }),
    run: ({ text }) => ({ count: text.length, kind: 'a' }),
  })
  expectTypeOf(counted({ text: '' })).resolves.toEqualTypeOf<{ count: number; kind: string }>()
  const listed = tool({ ...base, run: async () => ['a'].map((text) => ({ text })) })
  expectTypeOf(listed()).resolves.toEqualTypeOf<{ text: string }[]>()
  const counts = tool({ ...base, run: async () => ({ total: 0, open: true, rows: [{ id: 1 }] }) })
  expectTypeOf(counts()).resolves.toEqualTypeOf<{
    total: number
    open: boolean
    rows: { id: number }[]
  }>()
  const declared = tool({
    ...base,
    run: (): { ok: true; value: number } | { ok: false; reason: string } => ({
      ok: true,
      value: 1,
    }),
  })
  expectTypeOf(declared()).resolves.toEqualTypeOf<
    { ok: true; value: number } | { ok: false; reason: string }
  >()
})

test('plain JSON Schema says nothing about the type of a result, and jsonSchema<T>() says it all [3.plain-json-schema]', () => {
  const plain = tool({ ...base, output: { type: 'array' }, run: (): number[] => [1] })
  expectTypeOf(plain()).resolves.toEqualTypeOf<number[]>()
  const typed = tool({
    ...base,
    output: jsonSchema<{ kind: 'a' | 'b' }>({ type: 'object' }),
    run: () => ({ kind: 'a' }),
  })
  expectTypeOf(typed()).resolves.toEqualTypeOf<{ kind: 'a' | 'b' }>()
  // @ts-expect-error kind is 'a' or 'b'
  // prettier-ignore
  tool({ ...base, output: jsonSchema<{ kind: 'a' | 'b' }>({ type: 'object' }), run: () => ({ kind: 'c' }) })
})
