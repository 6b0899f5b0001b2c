import { describe, expect, expectTypeOf, test } from 'vitest'
import { createState, fail, slice, tool } from 'toolable'
import type { Outcome } from 'toolable'
import { callTool } from 'toolable/testing'
import { z } from 'zod'

const rename = tool({
  name: 'rename',
  summary: 'Rename files',
  input: z.object({ from: z.string(), to: z.string().default('new') }),
  dryRun: true,
  run({ from, to }, ctx) {
    ctx.progress('renaming')
    ctx.plan('rename', from, { to })
    if (from === 'missing') fail('NOT_FOUND', 'there is no such file')
    return { renamed: [from, to] }
  },
})

describe('callTool [2.kit-call-tool]', () => {
  test('gives the outcome and the events', async () => {
    const { outcome, events, plan } = await callTool(rename, { from: 'a' })
    expectTypeOf(outcome).toEqualTypeOf<Outcome<{ renamed: string[] }>>()
    expect(outcome).toMatchObject({
      ok: true,
      result: { renamed: ['a', 'new'] },
      meta: { tool: 'rename' },
    })
    expect([events, plan]).toEqual([[{ type: 'progress', message: 'renaming' }], []])
  })

  test('gives the plan of a dry run', async () => {
    const { outcome, plan } = await callTool(rename, { from: 'a', to: 'b' }, { dryRun: true })
    expect(plan).toEqual([{ action: 'rename', target: 'a', details: { to: 'b' } }])
    expect(outcome.meta.dry_run).toBe(true)
    const unplanned = tool({
      name: 'acts',
      summary: 'Acts',
      run: () => ({ plan: [{ action: 'mine', target: 'x' }] }),
    })
    expect((await callTool(unplanned, {}, { dryRun: true })).plan).toEqual([])
    expect((await callTool(unplanned)).plan).toEqual([])
  })

  test('never throws for what the tool or its input does', async () => {
    expect((await callTool(rename, { from: 'missing' })).outcome).toMatchObject({
      ok: false,
      error: { code: 'NOT_FOUND' },
    })
    // @ts-expect-error a name is a text
    // prettier-ignore
    expect((await callTool(rename, { from: 7 })).outcome).toMatchObject({ error: { code: 'INVALID_INPUT', field: 'from' } })
    // @ts-expect-error the input is needed
    expect((await callTool(rename)).outcome).toMatchObject({ error: { code: 'MISSING_PARAM' } })
    expect((await callTool(undefined as never, {})).outcome).toMatchObject({
      error: { code: 'CONFIG' },
    })
  })

  const asks = tool({
    name: 'asks',
    summary: 'Asks',
    async run(_input, ctx) {
      const sure = await ctx.ask({ kind: 'confirm', prompt: 'Sure?', key: 'sure' })
      return {
        sure,
        word: await ctx.ask({ kind: 'input', prompt: 'Which word?', default: 'none' }),
        thought: sure ? await ctx.sample('Think') : '',
      }
    },
  })

  test('answers and completes by value', async () => {
    expect(
      (await callTool(asks, {}, { answers: [true, 'x'], samples: ['deep'] })).outcome,
    ).toMatchObject({ result: { sure: true, word: 'x', thought: 'deep' } })
    expect((await callTool(asks, {}, { answers: { sure: false } })).outcome).toMatchObject({
      result: { sure: false, word: 'none', thought: '' },
    })
    expect(
      (
        await callTool(
          asks,
          {},
          { answers: ({ kind }) => kind === 'confirm', samples: ({ prompt }) => prompt },
        )
      ).outcome,
    ).toMatchObject({ ok: true, result: { thought: 'Think' } })
    expect((await callTool(asks, {})).outcome).toMatchObject({ error: { code: 'ANSWER_REQUIRED' } })
    expect((await callTool(asks, {}, { answers: [true], samples: [] })).outcome).toMatchObject({
      error: { code: 'ANSWER_REQUIRED', message: "the test has no completion for 'Think'" },
    })
  })

  test('what a function of the test throws reaches the test', async () => {
    await expect(
      callTool(
        asks,
        {},
        {
          answers: () => {
            throw new Error('the test says no')
          },
        },
      ),
    ).rejects.toThrow('the test says no')
    await expect(
      callTool(asks, {}, { answers: [true], samples: () => Promise.reject(new Error('nor this')) }),
    ).rejects.toThrow('nor this')
  })

  test('the other options of a call are those of call()', async () => {
    const notes = slice<string>('notes', { kind: 'state' })
    const state = createState()
    const heard: string[] = []
    const note = tool({
      name: 'note',
      summary: 'Notes',
      run: (_input, ctx) => {
        ctx.state.get(notes).append('one')
        ctx.log('noted')
        return ctx.caller
      },
    })
    const { outcome } = await callTool(
      note,
      {},
      { state, caller: 'me', onEvent: ({ type }) => void heard.push(type) },
    )
    expect([outcome.ok && outcome.result, state.get(notes).all(), heard]).toEqual([
      'me',
      ['one'],
      ['log', 'tool_invoked'],
    ])
  })
})
