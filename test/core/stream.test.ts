import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { call, fail, session, stream, tool } from 'toolable'
import type { CallEvent, SessionAnswer } from 'toolable'

const minimal = { name: 'flows', summary: 'Flows' }
const collect = async (events: AsyncIterable<CallEvent>) => {
  const all: CallEvent[] = []
  for await (const event of events) all.push(event)
  return all
}
const counting = (counts: { yields: number; cleaned?: boolean }) =>
  tool({
    ...minimal,
    async *run() {
      try {
        for (;;) {
          counts.yields++
          yield stream.progress(`${counts.yields}`)
        }
      } finally {
        counts.cleaned = true
      }
    },
  })
const turns = async (count: number) => {
  for (let index = 0; index < count; index++) await new Promise((resolve) => setImmediate(resolve))
}

describe('streaming tools', () => {
  test('[3.run-generator-streaming] [3.stream-events] events come in order, then one result', async () => {
    const flows = tool({
      ...minimal,
      input: z.object({ n: z.number().default(2) }),
      async *run({ n }) {
        for (let index = 1; index <= n; index++) yield stream.progress(`step ${index}`, index * 50)
        yield stream.log('done', 'debug')
        return { n }
      },
    })
    expect(await collect(flows.stream())).toEqual([
      { type: 'progress', message: 'step 1', percent: 50 },
      { type: 'progress', message: 'step 2', percent: 100 },
      { type: 'log', level: 'debug', message: 'done' },
      {
        type: 'result',
        ok: true,
        status: 'success',
        result: { n: 2 },
        meta: { tool: 'flows', duration_ms: expect.any(Number) },
      },
    ])
  })

  test('[3.run-generator-streaming] the result event is the result unless something is returned; without either it is null', async () => {
    await expect(
      tool({
        ...minimal,
        *run() {
          yield stream.result({ a: 1 })
          yield stream.progress('more')
        },
      })(),
    ).resolves.toEqual({ a: 1 })
    await expect(
      tool({
        ...minimal,
        *run() {
          yield stream.result('event')
          return 'returned'
        },
      })(),
    ).resolves.toBe('returned')
    expect(
      await call(
        tool({
          ...minimal,
          *run() {
            yield stream.progress('x')
          },
        }),
      ),
    ).toMatchObject({ ok: true, result: null })
  })

  test('[3.stream-events] a tool that is no generator streams too', async () => {
    const events = await collect(
      tool({
        ...minimal,
        run: (_input, ctx) => {
          ctx.progress('a')
          ctx.item(1)
          return 'b'
        },
      }).stream(),
    )
    expect(events.map(({ type }) => type)).toEqual(['progress', 'item', 'result'])
  })

  test('[3.stream-events] every failure is a result event', async () => {
    for (const [flows, code] of [
      [tool({ ...minimal, input: z.object({ a: z.string() }), run: () => 1 }), 'MISSING_PARAM'],
      [tool({ ...minimal, run: () => fail('CONFLICT', 'x') }), 'CONFLICT'],
      [
        tool({
          ...minimal,
          async *run() {
            yield stream.progress('x')
            throw new Error('x')
          },
        }),
        'INTERNAL',
      ],
      [
        tool({ ...minimal, timeout: '10ms', run: () => new Promise<never>(() => undefined) }),
        'TIMEOUT',
      ],
    ] as const) {
      const events = await collect((flows as ReturnType<typeof tool>).stream({}))
      expect(events.filter(({ type }) => type === 'result')).toMatchObject([
        { ok: false, error: { code } },
      ])
      expect(events.at(-1)?.type).toBe('result')
    }
  })

  test('an iterable that is no generator is a value', async () => {
    await expect(tool({ ...minimal, run: () => [1, 2] })()).resolves.toEqual([1, 2])
    await expect(tool({ ...minimal, run: () => 'text' })()).resolves.toBe('text')
  })
})

describe('readers', () => {
  test('[3.stream-events] a slow reader holds a generator back', async () => {
    const counts = { yields: 0 }
    let read = 0
    for await (const event of counting(counts).stream()) {
      if (event.type !== 'progress') continue
      await turns(3)
      expect(counts.yields).toBeLessThanOrEqual(++read + 1)
      if (read === 5) break
    }
    expect(read).toBe(5)
  })

  test('[3.stream-events] a reader that leaves cancels the call, and the generator cleans up', async () => {
    const counts: { yields: number; cleaned?: boolean } = { yields: 0 }
    for await (const event of counting(counts).stream()) if (event.type === 'progress') break
    await turns(3)
    expect(counts).toEqual({ yields: 1, cleaned: true })
  })

  test('[3.stream-events] leaving aborts the signal of a handler that waits', async () => {
    const aborted = vi.fn()
    const waits = tool({
      ...minimal,
      run: (_input, ctx) =>
        new Promise<never>(() => {
          ctx.signal.addEventListener('abort', () => aborted((ctx.signal.reason as Error).message))
          ctx.progress('waiting')
        }),
    })
    for await (const event of waits.stream()) {
      expect(event.type).toBe('progress')
      break
    }
    expect(aborted).toHaveBeenCalledExactlyOnceWith('the call was cancelled: the reader left')
  })

  test('[3.stream-events] one may leave while nothing comes', async () => {
    const aborted = vi.fn()
    let start = (): void => undefined
    const started = new Promise<void>((resolve) => {
      start = resolve
    })
    const silent = tool({
      ...minimal,
      run: (_input, ctx) =>
        new Promise<never>(() => {
          ctx.signal.addEventListener('abort', aborted)
          start()
        }),
    })
    const events = silent.stream()[Symbol.asyncIterator]()
    const next = events.next()
    await started
    await events.return?.()
    expect(aborted).toHaveBeenCalledOnce()
    expect(await next).toMatchObject({
      value: { type: 'result', ok: false, error: { code: 'CANCELLED' } },
    })
    expect(await events.next()).toEqual({ done: true, value: undefined })
  })

  test('[3.stream-events] nothing starts before the first look, and nothing at all after an early goodbye', async () => {
    const run = vi.fn()
    const events = tool({ ...minimal, run })
      .stream()
      [Symbol.asyncIterator]()
    await turns(2)
    await events.return?.()
    expect(await events.next()).toEqual({ done: true, value: undefined })
    expect(run).not.toHaveBeenCalled()
  })

  test('[3.call-options] the signal of the caller ends the stream with its result', async () => {
    const controller = new AbortController()
    const events: CallEvent[] = []
    for await (const event of counting({ yields: 0 }).stream({}, { signal: controller.signal })) {
      events.push(event)
      if (events.length === 3) controller.abort()
    }
    expect(events.at(-1)).toMatchObject({ type: 'result', ok: false, error: { code: 'CANCELLED' } })
  })

  test('a handler that speaks beside its generator holds nobody up', async () => {
    const both = tool({
      ...minimal,
      async *run(_input, ctx) {
        const timer = setInterval(() => ctx.progress('beside'), 1)
        try {
          for (let index = 0; index < 20; index++) {
            yield stream.progress(`${index}`)
            await turns(1)
          }
        } finally {
          clearInterval(timer)
        }
        return 'done'
      },
    })
    const events: CallEvent[] = []
    for await (const event of both.stream()) {
      events.push(event)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    expect(events.at(-1)).toMatchObject({ type: 'result', ok: true, result: 'done' })
    expect(
      events.filter((event) => event.type === 'progress' && event.message !== 'beside'),
    ).toHaveLength(20)
  })

  test('the caller’s own observer hears everything too, in order', async () => {
    const heard: string[] = []
    const flows = tool({
      ...minimal,
      run: (_input, ctx) => {
        ctx.progress('a')
        ctx.progress('b')
        return 1
      },
    })
    const read = (
      await collect(
        flows.stream(
          {},
          {
            onEvent: async (event) => {
              await turns(heard.length === 0 ? 3 : 0)
              heard.push(event.type)
            },
          },
        ),
      )
    ).map((event) => (event.type === 'progress' ? event.message : event.type))
    expect(read).toEqual(['a', 'b', 'result'])
    expect(heard.sort()).toEqual(['progress', 'progress', 'tool_invoked'])
  })

  test('an observer that returns a promise holds a generator back', async () => {
    const counts = { yields: 0 }
    let release = (): void => undefined
    const controller = new AbortController()
    let spoke = (): void => undefined
    const first = new Promise<void>((resolve) => {
      spoke = resolve
    })
    const outcome = call(
      counting(counts),
      {},
      {
        signal: controller.signal,
        onEvent: (event) =>
          event.type === 'progress'
            ? new Promise<void>((resolve) => {
                release = resolve
                spoke()
              })
            : undefined,
      },
    )
    await first
    await turns(5)
    expect(counts.yields).toBe(1)
    release()
    await turns(5)
    expect(counts.yields).toBe(2)
    controller.abort()
    expect(await outcome).toMatchObject({ ok: false })
    await turns(2)
    expect(counts).toMatchObject({ yields: 2, cleaned: true })
  })
})

describe('sessions', () => {
  const chat = tool({
    ...minimal,
    session: true,
    async *run(): AsyncGenerator<unknown, string[], SessionAnswer> {
      const heard: string[] = []
      let answer = yield session.start('Welcome', 'you> ')
      for (;;) {
        if (answer.action === 'quit') break
        heard.push(String(answer['text']))
        answer = yield session.ask()
      }
      yield session.end('success')
      return heard
    },
  })

  test('[3.run-generator-session] asks, receives answers, and returns behind its last word', async () => {
    const answers = [{ text: 'a' }, { text: 'b' }, { action: 'quit' }]
    const asked: unknown[] = []
    const events: string[] = []
    const outcome = await call(
      chat,
      {},
      {
        answer: (question) => {
          asked.push([question.kind, question.prompt, question.dialogue])
          return answers.shift()
        },
        onEvent: (event) => void events.push(event.type),
      },
    )
    expect(outcome).toMatchObject({ ok: true, result: ['a', 'b'] })
    expect(asked).toEqual([
      ['input', 'you> ', true],
      ['input', '> ', true],
      ['input', '> ', true],
    ])
    expect(events).toEqual([
      'session_start',
      'awaiting_input',
      'awaiting_input',
      'session_end',
      'tool_invoked',
    ])
  })

  test('[3.run-generator-session] is told once that nobody answers any more, and ended when it asks on', async () => {
    expect(await call(chat, {}, { answer: () => undefined })).toMatchObject({
      ok: true,
      result: [],
    })
    let cleaned = false
    const stubborn = tool({
      ...minimal,
      *run() {
        try {
          for (;;) yield session.ask()
        } finally {
          cleaned = true
        }
      },
    })
    expect(await call(stubborn, {}, { answer: () => undefined })).toMatchObject({
      ok: true,
      result: null,
    })
    expect(cleaned).toBe(true)
  })

  test('[3.run-generator-session] with nobody at all it is ANSWER_REQUIRED', async () => {
    expect(await call(chat)).toMatchObject({
      ok: false,
      error: { code: 'ANSWER_REQUIRED', suggestion: { fix: expect.stringContaining('--session') } },
    })
  })

  test('[3.run-generator-session] that waits for an answer can be cancelled', async () => {
    const controller = new AbortController()
    expect(
      await call(
        chat,
        {},
        {
          signal: controller.signal,
          answer: () => {
            queueMicrotask(() => controller.abort())
            return new Promise(() => undefined)
          },
        },
      ),
    ).toMatchObject({ error: { code: 'CANCELLED' } })
  })
})
