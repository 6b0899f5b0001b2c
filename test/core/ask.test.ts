import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { call, tool } from 'toolable'
import type { Answerer, Context, Interaction } from 'toolable'

const asking = (ask: (ctx: Context) => Promise<unknown>) =>
  tool({ name: 'asks', summary: 'Asks', run: (_input, ctx) => ask(ctx) })
const confirm = asking((ctx) => ctx.ask({ kind: 'confirm', prompt: 'Go on?' }))
const decide = asking((ctx) =>
  ctx.ask({
    kind: 'decision',
    prompt: 'Which?',
    options: ['red', { value: 'blue', label: 'Blue' }],
  }),
)
const typed = asking((ctx) =>
  ctx.ask({
    kind: 'input',
    prompt: 'How many?',
    schema: z.object({ n: z.number(), unit: z.string().default('m') }),
  }),
)
const free = asking((ctx) => ctx.ask({ kind: 'input', prompt: 'What?' }))

describe('the three kinds', () => {
  test('[3.context-ask] confirm gives a boolean', async () => {
    for (const answer of [true, false])
      await expect(confirm({}, { answer: () => answer })).resolves.toBe(answer)
    await expect(confirm({}, { answer: async () => true })).resolves.toBe(true)
  })

  test('[3.context-ask] decision gives the value of an option', async () => {
    const answer = vi.fn<Answerer>(() => 'blue')
    await expect(decide({}, { answer })).resolves.toBe('blue')
    expect(answer).toHaveBeenCalledWith(
      {
        id: expect.stringMatching(/^[0-9a-f]{8}$/),
        kind: 'decision',
        prompt: 'Which?',
        options: [{ value: 'red' }, { value: 'blue', label: 'Blue' }],
      },
      expect.any(AbortSignal),
    )
  })

  test('[3.context-ask] input gives the checked value, defaults applied, and anything without a schema', async () => {
    const answer = vi.fn<Answerer>(() => ({ n: 5 }))
    await expect(typed({}, { answer })).resolves.toEqual({ n: 5, unit: 'm' })
    expect(answer.mock.calls[0]![0]).toMatchObject({
      kind: 'input',
      schema: { type: 'object', properties: { n: { type: 'number' } } },
    })
    for (const given of ['text', 5, null, ['a']])
      await expect(free({}, { answer: () => given })).resolves.toEqual(given)
  })

  test('[3.context-ask] plain JSON Schema works too', async () => {
    const plain = asking((ctx) =>
      ctx.ask({ kind: 'input', prompt: '?', schema: { type: 'integer', minimum: 1 } }),
    )
    await expect(plain({}, { answer: () => 5 })).resolves.toBe(5)
    expect(await call(plain, {}, { answer: () => 0 })).toMatchObject({
      error: { code: 'INVALID_INPUT' },
    })
  })
})

describe('answers that do not fit', () => {
  test.each<[string, ReturnType<typeof asking>, unknown, unknown, string]>([
    ['confirm', confirm, 'yes', true, 'must be true or false'],
    ['decision', decide, 'green', 'red', 'must be one of red, blue'],
    ['input', typed, { n: 'five' }, { n: 5 }, 'n'],
  ])(
    '[3.context-ask] %s is asked again with the reason',
    async (_kind, asks, wrong, right, problem) => {
      const questions: Interaction[] = []
      const answer: Answerer = (question) => {
        questions.push(question)
        return questions.length === 1 ? wrong : right
      }
      expect(await call(asks, {}, { answer })).toMatchObject({ ok: true })
      expect(questions).toHaveLength(2)
      expect(questions[0]!.problem).toBeUndefined()
      expect(questions[1]!.problem).toContain(problem)
      expect(questions[1]!.id).toBe(questions[0]!.id)
    },
  )

  test('[3.context-ask] whoever never answers rightly is not asked for ever', async () => {
    const answer = vi.fn<Answerer>(() => 'perhaps')
    expect(await call(confirm, {}, { answer })).toMatchObject({
      error: {
        code: 'INVALID_INPUT',
        field: 'answer',
        message: "the answer to 'Go on?' must be true or false",
      },
    })
    expect(answer).toHaveBeenCalledTimes(5)
  })
})

describe('a default that does not fit', () => {
  test.each<[string, ReturnType<typeof asking>, string]>([
    [
      'decision',
      asking((ctx) =>
        ctx.ask({
          kind: 'decision',
          prompt: 'Which?',
          options: ['red'],
          default: 'green' as never,
        }),
      ),
      "the default of the question 'Which?' must be one of red",
    ],
    [
      'input',
      asking((ctx) =>
        ctx.ask({ kind: 'input', prompt: 'How many?', schema: { type: 'integer' }, default: 'x' }),
      ),
      "the default of the question 'How many?' must be a whole number",
    ],
  ])(
    '[3.context-ask] %s is a fault of the tool, before anybody is asked',
    async (_kind, asks, message) => {
      const answer = vi.fn<Answerer>(() => 'red')
      expect(await call(asks, {}, { answer })).toMatchObject({
        error: { code: 'INTERNAL', message: expect.stringContaining(message) },
      })
      expect(answer).not.toHaveBeenCalled()
    },
  )

  test('[3.context-ask] one that the schema would make of an answer fits', async () => {
    await expect(
      asking((ctx) =>
        ctx.ask({ kind: 'input', prompt: '?', schema: z.string().transform(Number), default: 5 }),
      )({}),
    ).resolves.toBe(5)
  })
})

describe('nobody there', () => {
  const nobody: (Answerer | undefined)[] = [undefined, () => undefined, async () => undefined]

  test('[3.context-ask-default-timeout] without a default it is ANSWER_REQUIRED with the question', async () => {
    for (const answer of nobody) {
      expect(await call(decide, {}, answer ? { answer } : {})).toMatchObject({
        error: {
          code: 'ANSWER_REQUIRED',
          recoverable: true,
          message: "tool 'asks' asks 'Which?' and nobody can answer",
          details: {
            interaction: { kind: 'decision', options: [{ value: 'red' }, { value: 'blue' }] },
          },
        },
      })
    }
  })

  test('[3.context-ask-default-timeout] with a default, that', async () => {
    const defaults = asking((ctx) =>
      Promise.all([
        ctx.ask({ kind: 'confirm', prompt: '?', default: false }),
        ctx.ask({ kind: 'decision', prompt: '?', options: ['a', 'b'], default: 'b' }),
        ctx.ask({ kind: 'input', prompt: '?', default: 5 }),
      ]),
    )
    for (const answer of nobody)
      await expect(defaults({}, answer ? { answer } : {})).resolves.toEqual([false, 'b', 5])
  })

  test('[3.context-ask-default-timeout] an answer that does not come in time is as good as none', async () => {
    const silent: Answerer = () => new Promise(() => undefined)
    const ask = (more: object) =>
      asking((ctx) => ctx.ask({ kind: 'confirm', prompt: '?', timeout: 0.01, ...more }))
    await expect(ask({ default: true })({}, { answer: silent })).resolves.toBe(true)
    expect(await call(ask({}), {}, { answer: silent })).toMatchObject({
      error: { code: 'ANSWER_REQUIRED' },
    })
    await expect(ask({ timeout: 60 })({}, { answer: () => false })).resolves.toBe(false)
    expect(await call(ask({ timeout: 0 }), {}, { answer: () => true })).toMatchObject({
      error: { code: 'INVALID_INPUT' },
    })
  })

  test('an answerer that breaks is a failure that the tool may catch', async () => {
    const breaks: Answerer = () => {
      throw new Error('line cut')
    }
    expect(await call(confirm, {}, { answer: breaks })).toMatchObject({
      error: { message: 'line cut' },
    })
    await expect(
      asking((ctx) => ctx.ask({ kind: 'confirm', prompt: '?' }).catch(() => 'alone'))(
        {},
        { answer: breaks },
      ),
    ).resolves.toBe('alone')
  })
})
