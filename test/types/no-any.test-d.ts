import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import * as toolable from 'toolable'
import type {
  CallOptions,
  Context,
  Outcome,
  Tool,
  ToolManifest,
  Toolset,
  ToolsetOptions,
} from 'toolable'
import { path } from 'toolable/zod'

type IsAny<T> = 0 extends 1 & T ? true : false
/** Names of the fields of T that are `any`, or functions that give or take it. */
type Leaks<T> = {
  [Key in keyof T]-?: IsAny<T[Key]> extends true
    ? Key
    : T[Key] extends (...given: infer Given) => infer Gives
      ? IsAny<Gives> extends true
        ? Key
        : IsAny<Awaited<Gives>> extends true
          ? Key
          : IsAny<Given[number & keyof Given]> extends true
            ? Key
            : never
      : never
}[keyof T]

describe('no any leaks out of the public types', () => {
  test('of exported values', () => {
    expectTypeOf<Leaks<typeof toolable>>().toEqualTypeOf<never>()
    expectTypeOf(path()).not.toBeAny()
  })

  test('of the types that users hold in their hands', () => {
    expectTypeOf<Leaks<Context>>().toEqualTypeOf<never>()
    expectTypeOf<Leaks<CallOptions>>().toEqualTypeOf<never>()
    expectTypeOf<Leaks<Toolset>>().toEqualTypeOf<never>()
    expectTypeOf<Leaks<ToolsetOptions>>().toEqualTypeOf<never>()
    expectTypeOf<Leaks<ToolManifest>>().toEqualTypeOf<never>()
    expectTypeOf<Leaks<Extract<Outcome, { ok: true }>>>().toEqualTypeOf<never>()
    expectTypeOf<Leaks<Extract<Outcome, { ok: false }>>>().toEqualTypeOf<never>()
    expectTypeOf<Leaks<Tool>>().toEqualTypeOf<never>()
  })

  test('of what inference makes of a definition', () => {
    const inferred = toolable.tool({
      name: 'x',
      summary: 'x',
      input: z.object({ a: z.unknown() }),
      run: (input, ctx) => {
        expectTypeOf(input).not.toBeAny()
        expectTypeOf(input.a).toEqualTypeOf<unknown>()
        expectTypeOf(ctx.context['x']).toEqualTypeOf<unknown>()
        return JSON.parse('1') as unknown
      },
    })
    expectTypeOf(inferred).parameter(0).not.toBeAny()
    expectTypeOf(inferred({ a: 1 })).resolves.toEqualTypeOf<unknown>()
  })

  test('the check itself finds one', () => {
    expectTypeOf<
      Leaks<{ fine: string; bad: any; gives: () => any; takes: (given: any) => void }>
    >().toEqualTypeOf<'bad' | 'gives' | 'takes'>()
  })
})
