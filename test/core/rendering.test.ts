import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { call, ok, partial, tool } from 'toolable'
import type { Outcome, ToolInvokedEvent } from 'toolable'
import { runCli } from 'toolable/testing'

class Table {
  constructor(readonly rows: number[]) {}
  render(): string {
    return `rows: ${this.rows.join(' and ')}`
  }
}
const own = (render: () => unknown) => ({ n: 1, render })

async function told(
  run: () => unknown,
  more: object = {},
): Promise<{ readonly outcome: Outcome; readonly text: string }> {
  let text = ''
  const outcome = await call(
    tool({ name: 't', summary: 't', ...more, run } as never),
    {},
    {
      onEvent: (event) => {
        text = (event as ToolInvokedEvent).rendered_output
      },
    },
  )
  return { outcome, text }
}

describe('rendering', () => {
  test.each<[string, () => unknown, string]>([
    ['message, blank line, value', () => ok({ a: 1 }, { message: 'Found.' }), 'Found.\n\n{"a":1}'],
    [
      'hidden value: only message',
      () => ok({ secret: 1 }, { message: 'Saved.', hidden: true }),
      'Saved.',
    ],
    ['hidden value without message', () => ok({ secret: 1 }, { hidden: true }), 'Done.'],
    [
      'hidden value with a render() of its own',
      () => ok(new Table([1]), { message: 'Saved.', hidden: true }),
      'Saved.',
    ],
    ['None: null, never an empty text', () => undefined, 'null'],
    ['None with a message: only the message', () => ok(null, { message: 'Gone.' }), 'Gone.'],
    ['text as it is', () => 'plain', 'plain'],
    ['mapping', () => ({ b: [1, null], a: undefined }), '{"b":[1,null]}'],
    ['sequence', () => [1, 'two'], '[1,"two"]'],
    ["the value's own render()", () => new Table([1, 2]), 'rows: 1 and 2'],
    [
      "the value's own render() after the message",
      () => ok(new Table([1, 2]), { message: 'Two.' }),
      'Two.\n\nrows: 1 and 2',
    ],
    ['render() as a field', () => own(() => 'one'), 'one'],
    ['render() that gives no text is made one', () => own(() => 42), '42'],
    ['render() that gives an empty text', () => own(() => ''), 'Done.'],
    [
      'render() that throws falls back',
      () =>
        own(() => {
          throw new Error('x')
        }),
      '{"n":1}',
    ],
    [
      'render() that throws what cannot be looked at falls back',
      () =>
        own(() => {
          throw null
        }),
      '{"n":1}',
    ],
    ['render() that gives nothing falls back', () => own(() => undefined), '{"n":1}'],
    ['render() that is no text at all falls back', () => own(() => Object.create(null)), '{"n":1}'],
    [
      'render() that promises falls back',
      () => own(() => Promise.reject(new Error('x'))),
      '{"n":1}',
    ],
    ['a field render that is data', () => ({ render: 'fast' }), '{"render":"fast"}'],
  ])('%s [8.result-rendering]', async (_what, run, text) => {
    expect((await told(run)).text).toBe(text)
  })

  test('[8.result-rendering] programs get the value, checked, as ever; a render() that fails is a warning', async () => {
    const table = tool({
      name: 'table',
      summary: 't',
      output: z.object({ rows: z.array(z.number()) }),
      run: () => new Table([1]),
    })
    expect(await call(table)).toMatchObject({
      ok: true,
      result: { rows: [1] },
      hidden: true,
      content: [{ type: 'text', text: 'rows: 1' }],
    })
    const bare = tool({ name: 'bare', summary: 't', run: () => new Table([2]) })
    await expect(bare()).resolves.toBeInstanceOf(Table)
    const shown = await runCli(bare, ['--json'])
    expect(shown.outcome).toMatchObject({ ok: true, result: { rows: [2] } })
    const { outcome } = await told(() =>
      own(() => {
        throw new Error('x')
      }),
    )
    expect(outcome).toMatchObject({
      ok: true,
      result: { n: 1 },
      meta: { warnings: ['render() of the result failed; the result is shown as JSON'] },
    })
    expect((await told(() => 'x', { output: z.number() })).outcome).toMatchObject({ ok: false })
    expect(
      (await told(() => partial({ rows: [1], render: () => 'one' }, [new Error('two')]))).text,
    ).toMatch(/^\{"status":"partial".*one$/s)
  })

  test('[8.result-rendering] what is on record has at most 1,000 characters', async () => {
    expect((await told(() => 'x'.repeat(5000))).text.length).toBe(1000)
  })
})
