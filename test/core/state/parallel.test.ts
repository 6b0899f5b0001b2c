import { describe, expect, test, vi } from 'vitest'
import { call, createState, memoryFiles, slice } from 'toolable'
import type { Context, State, ToolEvent, ToolInvokedEvent } from 'toolable'
import { doing, gate, settle } from './support.ts'

type Account = { readonly id: string; readonly cents: number }
const accounts = slice<Account>('accounts', { by: ({ id }) => id })
const notes = slice<string>('notes')

// Calls that all look at the state before any of them ends.
async function together(state: State, ...handlers: ((ctx: Context) => unknown)[]) {
  const all = gate()
  let arrived = 0
  return Promise.all(
    handlers.map((handler) =>
      call(
        doing(async (ctx) => {
          await handler(ctx)
          if (++arrived === handlers.length) all.open()
          await all.passed
        }),
        {},
        { state },
      ),
    ),
  )
}

describe('calls at the same time', () => {
  test('[8.state-parallel] append, upsert, clear and reduce are made again on what others left', async () => {
    const state = createState()
    state.get(accounts).append({ id: 'a', cents: 100 }, { id: 'b', cents: 0 })
    state.get(notes).append('old')
    const pay = (cents: number) => (ctx: Context) =>
      ctx.state
        .get(accounts)
        .reduce(
          (all, paid: number) =>
            all.map((account) => ({
              ...account,
              cents: account.cents + (account.id === 'a' ? -paid : account.id === 'b' ? paid : 0),
            })),
          cents,
        )
    const outcomes = await together(
      state,
      pay(10),
      pay(5),
      (ctx) => ctx.state.get(accounts).upsert({ id: 'c', cents: 1 }),
      (ctx) => ctx.state.get(notes).clear((note) => note === 'old'),
      (ctx) => ctx.state.get(notes).append('new'),
    )
    expect(outcomes.every(({ ok }) => ok)).toBe(true)
    expect(state.get(accounts).all()).toEqual([
      { id: 'a', cents: 85 },
      { id: 'b', cents: 15 },
      { id: 'c', cents: 1 },
    ])
    expect(state.get(notes).all()).toEqual(['new'])
  })

  test('[8.state-conflict] one that replaced a slice which changed meanwhile is told to try again, and leaves nothing', async () => {
    const state = createState()
    const outcomes = await together(
      state,
      (ctx) => {
        ctx.state.get(notes).append('first')
      },
      (ctx) => {
        ctx.state.get(notes).replace(['mine'])
        ctx.state.get(accounts).append({ id: 'x', cents: 1 })
      },
    )
    expect(outcomes).toMatchObject([
      { ok: true },
      {
        ok: false,
        error: { code: 'CONFLICT', retryable: true, message: expect.stringContaining("'notes'") },
      },
    ])
    expect([state.get(notes).all(), state.get(accounts).all()]).toEqual([['first'], []])
  })

  test('[8.state-conflict] replacing what nobody changed is no conflict, whatever happened beside it', async () => {
    const state = createState()
    const outcomes = await together(
      state,
      (ctx) => ctx.state.get(accounts).append({ id: 'x', cents: 1 }),
      (ctx) => ctx.state.get(notes).replace(['mine']),
    )
    expect(outcomes.every(({ ok }) => ok)).toBe(true)
    expect([state.get(notes).all(), state.get(accounts).all().length]).toEqual([['mine'], 1])
  })

  test('[8.state-conflict] nobody is told of a success that a conflict takes back', async () => {
    const state = createState()
    const told: boolean[] = []
    const begun = gate()
    const go = gate()
    const slow = call(
      doing(async (ctx) => {
        ctx.state.get(notes).replace(['mine'])
        begun.open()
        await go.passed
      }),
      {},
      {
        state,
        onEvent: (event) => {
          if (event.type === 'tool_invoked') told.push(event.outcome.ok)
        },
      },
    )
    await begun.passed
    state.get(notes).append('from outside')
    go.open()
    expect(await slow).toMatchObject({ error: { code: 'CONFLICT' } })
    expect(told).toEqual([false])
  })

  test('[8.state-conflict] files that another call changed take the slices back too', async () => {
    const state = createState({ filesystem: memoryFiles({ files: { shared: 'old' } }) })
    const edit = (text: string) => async (ctx: Context) => {
      await ctx.filesystem.readText('shared')
      await ctx.filesystem.write('shared', text)
      ctx.state.get(notes).append(text)
    }
    const outcomes = await together(state, edit('one'), edit('two'))
    expect(outcomes.map(({ ok }) => ok).toSorted()).toEqual([false, true])
    expect(outcomes.find(({ ok }) => !ok)).toMatchObject({
      error: { code: 'CONFLICT', retryable: true },
    })
    expect(state.get(notes).all()).toEqual([await state.filesystem.readText('shared')])
  })

  test('[8.state-conflict] a reducer that cannot go with what others left fails its call', async () => {
    const state = createState()
    const outcomes = await together(
      state,
      (ctx) => ctx.state.get(notes).append('only'),
      (ctx) =>
        ctx.state.get(notes).reduce((all) => {
          if (all.length > 0) throw new Error('not empty')
          return ['mine']
        }, 0),
    )
    expect(outcomes).toMatchObject([{ ok: true }, { ok: false, error: { message: 'not empty' } }])
    expect(state.get(notes).all()).toEqual(['only'])
  })
})

describe('a subscriber of calls', () => {
  const fails = (event: ToolEvent | ToolInvokedEvent): void => {
    if (event.type === 'tool_invoked' && event.outcome.ok)
      throw new Error('the disk of the record is full')
  }

  test('[8.state-subscriber] that fails rolls back slices, files and the answer; then it is told of the failure', async () => {
    const state = createState({ filesystem: memoryFiles() })
    const told: boolean[] = []
    const outcome = await call(
      doing(async (ctx) => {
        ctx.state.get(notes).append('x')
        await ctx.filesystem.write('a', 'b')
      }),
      {},
      {
        state,
        onEvent: (event) => {
          if (event.type === 'tool_invoked') told.push(event.outcome.ok)
          fails(event)
        },
      },
    )
    expect(outcome).toMatchObject({
      ok: false,
      error: { message: 'the disk of the record is full' },
    })
    expect([state.get(notes).all(), await state.filesystem.stat('a'), told]).toEqual([
      [],
      undefined,
      [true, false],
    ])
  })

  test('[8.state-subscriber] sees nothing of the call in the state before it agreed, and others wait for that', async () => {
    const state = createState()
    const asked = gate()
    const agreed = gate()
    const first = call(
      doing((ctx) => ctx.state.get(notes).append('first')),
      {},
      {
        state,
        onEvent: async () => {
          asked.open()
          await agreed.passed
        },
      },
    )
    await asked.passed
    const second = call(
      doing((ctx) => ctx.state.get(notes).append('second')),
      {},
      { state },
    )
    await settle()
    expect(state.get(notes).all()).toEqual([])
    agreed.open()
    await Promise.all([first, second])
    expect(state.get(notes).all()).toEqual(['first', 'second'])
  })

  test('[8.state-subscriber] may call tools on the slices of the state, which then belong to the call', async () => {
    const state = createState({ filesystem: memoryFiles() })
    const inner: unknown[] = []
    for (const broken of [true, false]) {
      await call(
        doing((ctx) => ctx.state.get(notes).append('call')),
        {},
        {
          state,
          async onEvent(event) {
            if (event.type !== 'tool_invoked' || !event.outcome.ok) return
            inner.push(
              await call(
                doing((ctx) => ctx.state.get(notes).append('subscriber')),
                {},
                { state },
              ),
            )
            inner.push(
              await call(
                doing((ctx) => ctx.filesystem.write('a', 'b')),
                {},
                { state },
              ),
            )
            if (broken) throw new Error('x')
          },
        },
      )
      expect(state.get(notes).all()).toEqual(broken ? [] : ['call', 'subscriber'])
    }
    expect(inner).toMatchObject([
      { ok: true },
      { error: { code: 'CANCELLED' } },
      { ok: true },
      { error: { code: 'CANCELLED' } },
    ])
  })

  test('[8.state-stuck] that waits for a call from elsewhere on the same state fails that call, not itself', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const state = createState()
      const wanted = gate()
      const elsewhere = wanted.passed.then(() =>
        call(
          doing((ctx) => ctx.state.get(notes).append('elsewhere')),
          {},
          { state },
        ),
      )
      const first = call(
        doing((ctx) => ctx.state.get(notes).append('first')),
        {},
        {
          state,
          onEvent: async () => {
            wanted.open()
            await elsewhere
          },
        },
      )
      await settle()
      await vi.advanceTimersByTimeAsync(60_000)
      expect(await elsewhere).toMatchObject({
        ok: false,
        error: { code: 'CONFLICT', retryable: true },
      })
      expect(await first).toMatchObject({ ok: true })
      expect(state.get(notes).all()).toEqual(['first'])
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  test('[8.state-listener] that takes no end is given up after a minute: everything is taken back, it is told of the failure without waiting, and others go on', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const files = memoryFiles()
      const state = createState({ filesystem: files })
      const told: boolean[] = []
      const write = doing(async (ctx) => {
        ctx.state.get(notes).append('stuck')
        await ctx.filesystem.write('a', 'b')
      })
      const asked = gate()
      const stuck = call(
        write,
        {},
        {
          state,
          timeout: 5,
          onEvent: (event) => {
            if (event.type === 'tool_invoked') told.push(event.outcome.ok)
            asked.open()
            return new Promise(() => undefined)
          },
        },
      )
      await asked.passed
      await vi.advanceTimersByTimeAsync(59_999)
      expect(told).toEqual([true])
      await vi.advanceTimersByTimeAsync(1)
      expect(await stuck).toMatchObject({
        ok: false,
        error: {
          code: 'TIMEOUT',
          message: expect.stringMatching(/^onEvent did not come to an end .* in 60 seconds/),
        },
      })
      expect([told, state.get(notes).all(), files.toJSON().files]).toEqual([[true, false], [], {}])
      expect(
        await call(
          doing((ctx) => ctx.state.get(notes).append('next')),
          {},
          { state },
        ),
      ).toMatchObject({ ok: true })
      expect(state.get(notes).all()).toEqual(['next'])
    } finally {
      vi.useRealTimers()
    }
  })

  test('[8.state-listener] without a state, and after a failure, nothing depends on a listener: the answer comes after a minute', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const onEvent = (): Promise<void> => new Promise(() => undefined)
      const both = [
        call(
          doing(() => 'done'),
          {},
          { onEvent },
        ),
        call(
          doing(() => {
            throw new Error('x')
          }),
          {},
          { state: createState(), onEvent },
        ),
      ]
      await settle()
      await vi.advanceTimersByTimeAsync(60_000)
      expect(await Promise.all(both)).toMatchObject([
        { ok: true, result: 'done' },
        { ok: false, error: { code: 'INTERNAL', message: 'x' } },
      ])
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  test('[8.state-stuck] a call that waits to commit can be cancelled, and many that wait come in their order', async () => {
    const state = createState()
    const asked = gate()
    const agreed = gate()
    const first = call(
      doing((ctx) => ctx.state.get(notes).append('first')),
      {},
      {
        state,
        onEvent: async () => {
          asked.open()
          await agreed.passed
        },
      },
    )
    await asked.passed
    const controller = new AbortController()
    const others = ['a', 'b', 'c'].map((text) =>
      call(
        doing((ctx) => ctx.state.get(notes).append(text)),
        {},
        { state, ...(text === 'b' && { signal: controller.signal }) },
      ),
    )
    await settle()
    controller.abort()
    expect(await others[1]).toMatchObject({ error: { code: 'CANCELLED' } })
    agreed.open()
    await Promise.all([first, ...others])
    expect(state.get(notes).all()).toEqual(['first', 'a', 'c'])
  })

  test('[8.state-stuck] a call that is cancelled at the moment when its turn comes passes it on', async () => {
    const state = createState()
    const asked = gate()
    const agreed = gate()
    const controller = new AbortController()
    const first = call(
      doing(() => 'first'),
      {},
      {
        state,
        onEvent: async () => {
          asked.open()
          await agreed.passed
        },
      },
    )
    await asked.passed
    const second = call(
      doing((ctx) => ctx.state.get(notes).append('second')),
      {},
      { state, signal: controller.signal },
    )
    await settle()
    agreed.open()
    // One turn of the queue after the other, until one of them hits the moment.
    for (let turn = 0; turn < 3; turn++) await Promise.resolve()
    controller.abort()
    await Promise.all([first, second])
    expect(
      await call(
        doing(() => 'third'),
        {},
        { state, onEvent: () => undefined },
      ),
    ).toMatchObject({ ok: true })
  })
})

describe('the record of a call', () => {
  test('[8.state-record] holds everything that is known about it', async () => {
    const events: ToolInvokedEvent[] = []
    const state = createState({ id: 'session' })
    const run = {
      run_id: 'r',
      request_id: 'q',
      attempt: 2,
      worker_id: 'w',
      trace_id: 't',
      span_id: 's',
    }
    const options = {
      state,
      caller: 'agent',
      invocation: {
        callId: 'c',
        promptName: 'p',
        adapter: 'openai',
        usage: { input: 3, output: 4 },
        run,
      },
      onEvent: (event: ToolEvent | ToolInvokedEvent) => {
        if (event.type === 'tool_invoked') events.push(event)
      },
    }
    const outcome = await call(
      doing(() => 'x'.repeat(3000)),
      {},
      options,
    )
    expect(events).toEqual([
      {
        type: 'tool_invoked',
        event_id: expect.stringMatching(/^[0-9a-f]{16}$/),
        tool: 'does',
        input: {},
        outcome,
        rendered_output: 'x'.repeat(1000),
        caller: 'agent',
        session_id: 'session',
        call_id: 'c',
        prompt_name: 'p',
        adapter: 'openai',
        usage: { input: 3, output: 4 },
        run_context: run,
        ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      },
    ])
    await call(
      doing(() => 1),
      { extra: 1 } as never,
      options,
    )
    expect(events[1]).toMatchObject({
      tool: 'does',
      session_id: 'session',
      call_id: 'c',
      raw_arguments: { extra: 1 },
      outcome: { ok: false, error: { code: 'INVALID_INPUT' } },
    })
    expect(events[1]!.rendered_output).toContain('extra')
    expect(events[0]!.event_id).not.toBe(events[1]!.event_id)
  })
})
