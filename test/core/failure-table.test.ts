import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import {
  call,
  createState,
  fail,
  folderFiles,
  member,
  slice,
  tool,
  ToolError,
  toolset,
} from 'toolable'
import type { CallOptions, Outcome, ToolInvokedEvent } from 'toolable'

const notes = slice<string>('notes')
const audit = slice<string>('audit', { kind: 'log' })
const counter = member('counter', {
  open: () => {
    const box = { value: 0 }
    return { box, snapshot: () => box.value, restore: (value: number) => void (box.value = value) }
  },
})

const breaking = (thrown: () => unknown, hold: () => Promise<void> | void = () => undefined) =>
  tool({
    name: 'breaks',
    summary: 'Changes everything, then breaks',
    input: z.object({ n: z.number() }),
    run: async (_input, ctx) => {
      ctx.state.get(notes).append('half')
      ctx.state.get(audit).append('tried')
      await ctx.filesystem.write('a.txt', 'half')
      await ctx.filesystem.write('new/b.txt', 'half')
      ;(await ctx.resources.get(counter)).box.value += 1
      await hold()
      throw thrown()
    },
  })

// Everything that a call could leave behind, before and after one that fails.
async function failing(
  thrown: () => unknown,
  input: unknown = { n: 1 },
  more: CallOptions = {},
  hold?: () => Promise<void>,
) {
  const root = mkdtempSync(join(tmpdir(), 'toolable-failures-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  writeFileSync(join(root, 'a.txt'), 'whole')
  const state = createState({ filesystem: folderFiles(root) })
  state.get(notes).append('before')
  const events: ToolInvokedEvent[] = []
  const outcome: Outcome = await call(breaking(thrown, hold), input as never, {
    state,
    onEvent: (event) => {
      if (event.type === 'tool_invoked') events.push(event)
    },
    ...more,
  })
  const left = {
    notes: state.get(notes).all(),
    files: readdirSync(root).filter((name) => !name.startsWith('.')),
    text: readFileSync(join(root, 'a.txt'), 'utf8'),
    count: (await state.resources.get(counter)).box.value,
  }
  return { outcome, events, left, ran: state.get(audit).all().length > 0 }
}
const AS_BEFORE = { notes: ['before'], files: ['a.txt'], text: 'whole', count: 0 }

describe('failure table', () => {
  test.each<[string, unknown, string]>([
    ['extra key', { n: 1, m: 2 }, 'INVALID_INPUT'],
    ['wrong type', { n: 'one' }, 'INVALID_INPUT'],
    ['missing key', {}, 'MISSING_PARAM'],
    ['no object at all', 'n', 'INVALID_INPUT'],
  ])(
    'ToolValidationError, %s: failed result, handler not called, event emitted [8.failure-rows]',
    async (_what, input, code) => {
      const { outcome, events, left, ran } = await failing(() => new Error('never'), input)
      expect(outcome).toMatchObject({
        ok: false,
        status: 'error',
        error: { code, recoverable: true },
        meta: { tool: 'breaks' },
      })
      expect(ran).toBe(false)
      expect(events).toMatchObject([
        {
          type: 'tool_invoked',
          tool: 'breaks',
          raw_arguments: input,
          outcome: { ok: false, error: { code } },
        },
      ])
      expect(left).toEqual(AS_BEFORE)
    },
  )

  test('ToolValidationError raised inside of a handler: failed result, and what it did is taken back [8.failure-rows]', async () => {
    const { outcome, events, left, ran } = await failing(() => {
      fail('INVALID_INPUT', 'n is odd', { field: 'n' })
    })
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', message: 'n is odd', field: 'n' },
    })
    expect([ran, events.length]).toEqual([true, 1])
    expect(left).toEqual(AS_BEFORE)
  })

  test.each<[string, string]>([
    ['VisibilityExpansionRequired', 'E_VISIBILITY_EXPANSION'],
    ['PromptEvaluationError', 'E_PROMPT_EVALUATION'],
    ['DeadlineExceededError', 'TIMEOUT'],
  ])(
    '%s: a failed result of call, which only the evaluation of a prompt raises [8.failure-rows]',
    async (_row, code) => {
      const { outcome, events, left } = await failing(
        () => new ToolError(code, 'told', { details: { keys: ['a'] } }),
      )
      expect(outcome).toMatchObject({
        ok: false,
        error: { code, message: 'told', details: { keys: ['a'] } },
      })
      expect(events).toMatchObject([{ outcome: { ok: false, error: { code } } }])
      expect(left).toEqual(AS_BEFORE)
    },
  )

  test('DeadlineExceededError, of the call itself: the handler is ended, and what it did is taken back [8.failure-rows]', async () => {
    const controller = new AbortController()
    const never = (): Promise<never> => {
      controller.abort(new DOMException('too late', 'TimeoutError'))
      return new Promise(() => undefined)
    }
    const { outcome, events, left, ran } = await failing(
      () => undefined,
      { n: 1 },
      { signal: controller.signal },
      never,
    )
    expect(outcome).toMatchObject({ ok: false, error: { code: 'TIMEOUT' } })
    expect([ran, events.length]).toEqual([true, 1])
    expect(left).toEqual(AS_BEFORE)
  })

  test('TypeError: failed result with message [8.failure-rows]', async () => {
    const { outcome, events, left } = await failing(() => new TypeError('x is not a function'))
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        code: 'INTERNAL',
        message: expect.stringContaining('x is not a function'),
        details: { name: 'TypeError' },
      },
      meta: { tool: 'breaks' },
    })
    expect(events).toMatchObject([
      { rendered_output: expect.stringContaining('x is not a function') },
    ])
    expect(left).toEqual(AS_BEFORE)
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
  test.each<[string, unknown, string]>([
    ['an error', new RangeError('too far'), 'too far'],
    ['a text', 'broken', 'broken'],
    ['null', null, 'the tool threw null'],
    ['undefined', undefined, 'the tool threw undefined'],
    ['a frozen error', Object.freeze(new Error('cold')), 'cold'],
    ['a frozen ToolError', Object.freeze(new ToolError('CONFLICT', 'cold')), 'cold'],
    ['a hostile Proxy', hostile, 'cannot be shown'],
    [
      'an error with a message that throws',
      Object.defineProperty(new Error('x'), 'message', {
        get() {
          throw new Error('no')
        },
      }),
      'cannot be shown',
    ],
  ])(
    'Other, %s: failed result, and call does not throw [8.failure-rows] [3.call-never-throws]',
    async (_what, thrown, message) => {
      const { outcome, events, left } = await failing(() => thrown)
      expect(outcome).toMatchObject({
        ok: false,
        status: 'error',
        error: { message: expect.stringContaining(message) },
      })
      expect(() => JSON.stringify(outcome)).not.toThrow()
      expect(events.length).toBe(1)
      expect(left).toEqual(AS_BEFORE)
    },
  )

  test('an unknown tool, and one without handler, are failed results with advice [8.failure-rows]', async () => {
    const set = toolset({ name: 'set', tools: [tool({ name: 'bare', summary: 'No handler' })] })
    expect(await set.call('barre')).toMatchObject({
      ok: false,
      error: { code: 'NOT_FOUND', suggestion: { fix: "Call 'bare'" } },
    })
    const events: unknown[] = []
    expect(
      await set.call(
        'bare',
        {},
        { state: createState(), onEvent: (event) => void events.push(event) },
      ),
    ).toMatchObject({
      ok: false,
      error: {
        code: 'PRECONDITION',
        message: expect.stringContaining('it has no handler'),
        suggestion: { action: 'use_different_tool' },
      },
    })
    expect(events).toMatchObject([{ type: 'tool_invoked', tool: 'bare', outcome: { ok: false } }])
    for (const odd of [undefined, null, 5, {}])
      expect(await set.call(odd as never)).toMatchObject({ ok: false })
    for (const odd of [undefined, null, {}, () => 1])
      expect(await call(odd as never)).toMatchObject({ ok: false, error: { code: 'CONFIG' } })
  })

  test('options that make no sense are failed results too [8.failure-rows] [3.call-never-throws]', async () => {
    const fine = tool({ name: 'fine', summary: 'f', run: () => 1 })
    for (const odd of [
      { timeout: -1 },
      { timeout: 'soon' },
      { state: {} },
      { budget: {} },
      { guards: 5 },
    ])
      expect(await call(fine, {}, odd as never)).toMatchObject({ ok: false, status: 'error' })
  })
})
