import { describe, expect, test, vi } from 'vitest'
import type { WorkflowStep, Workflow } from '../../../src/workflow/definition/model.ts'
import type { OperationOutcome } from '../../../src/workflow/engine.ts'
import type { PerformStep } from '../../../src/workflow/restate/worker.ts'
import { createRestateEngine } from '../../../src/workflow/restate/restate-engine.ts'
import type { RestateEngine } from '../../../src/workflow/restate/restate-engine.ts'
import { freePort } from '../../../scripts/conformance/free-port.mjs'
import { renewAfterFailure } from '../../support/renew-after-failure.ts'
import { startServer } from './server.ts'
import type { TestServer } from './server.ts'
import { openWorker } from './worker.ts'
import { HANG_MS } from '../../support/limits.ts'

let server: TestServer
let worker: Awaited<ReturnType<typeof openWorker>>
let engine: RestateEngine
const calls: string[] = []
const held = new Map<string, () => void>()

renewAfterFailure(
  async () => {
    server = await startServer()
    worker = await openWorker(server.admin, perform)
    engine = createRestateEngine({ ingress: server.ingress, admin: server.admin, now: Date.now })
  },
  async () => {
    await engine?.close()
    await worker?.close()
    await server?.stop()
  },
)

/** `echo` gives its input, `fail` fails, `hold` works until it is let go. */
const perform: PerformStep = async (
  { tool, step, given, idempotencyKey, attempt },
  signal,
  ask,
) => {
  calls.push(`${idempotencyKey}#${attempt}`)
  if (tool === 'fail')
    return { ok: false, error: { code: 'PRECONDITION', message: 'no', retryable: false } }
  if (tool === 'flaky' && attempt < 3)
    return { ok: false, error: { code: 'DEPENDENCY', message: 'not yet', retryable: true } }
  if (tool === 'asks')
    return {
      ok: true,
      value:
        (await ask(
          {
            id: `${step}.which`,
            kind: 'decision',
            prompt: 'Which?',
            options: [{ value: 'left' }, { value: 'right' }],
            action: 'which',
          },
          signal,
        )) ?? null,
    }
  if (tool === 'hold') {
    return new Promise<OperationOutcome>((resolve) => {
      held.set(idempotencyKey, () => resolve({ ok: true, value: 'let go' }))
      signal.addEventListener('abort', () =>
        resolve({ ok: false, error: { code: 'CANCELLED', message: 'stopped', retryable: false } }),
      )
    })
  }
  return { ok: true, value: 'input' in given ? given.input : given.args }
}

const tool = (name: string, which: string, more: object = {}): WorkflowStep => ({
  type: 'tool',
  name,
  tool: which,
  ...more,
})
const flow = (steps: readonly WorkflowStep[], more: Partial<Workflow> = {}): Workflow => ({
  name: 'sample',
  steps,
  ...more,
})
const countOf = (id: string): number => calls.filter((call) => call.startsWith(id)).length

describe('the Restate engine', () => {
  test('takes every kind of step [9.restate-steps]', async () => {
    const definition = flow(
      [
        tool('first', 'echo', { input: { n: '${{ input.n }}' } }),
        {
          type: 'parallel',
          name: 'both',
          max_concurrency: 2,
          tasks: [
            tool('a', 'echo', { input: { v: 'a' } }),
            tool('b', 'echo', { input: { v: 'b' } }),
            tool('c', 'echo', { input: { v: 'c' } }),
          ],
        },
        {
          type: 'each',
          name: 'all',
          items: '${{ input.list }}',
          as: 'item',
          max_concurrency: 2,
          do: [tool('one', 'echo', { input: { item: '${{ item }}' } })],
        },
        { type: 'wait', name: 'pause', for: 0.05 },
        tool('again', 'flaky', { retry: { max: 3, delay: 0.01, factor: 1, longest: 1 } }),
        {
          type: 'workflow',
          name: 'nested',
          workflow: flow([tool('inner', 'echo', { input: { deep: true } })]),
        },
        tool('never', 'echo', { when: 'input.n == 2' }),
        {
          type: 'ai_decision',
          name: 'choose',
          decision_type: 'pick',
          instruction: 'Which?',
          options: [{ value: 'left' }, { value: 'right' }],
        },
      ],
      {
        output: {
          first: '${{ steps.first.result.n }}',
          both: '${{ steps.both.result }}',
          all: '${{ steps.all.result }}',
          nested: '${{ steps.nested.result }}',
          chosen: '${{ steps.choose.result }}',
        },
      },
    )
    const { id, done } = await engine.start(definition, { n: 1, list: ['x', 'y', 'z'] })
    const [question] = await until(async () => {
      const found = (await engine.get(id))?.questions
      return found?.length ? found : undefined
    })
    expect((await engine.get(id))?.state).toBe('waiting_ai')
    await expect(engine.answer(id, 'no-such', 'left')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(engine.answer(id, question!.id, 'up')).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
    await engine.answer(id, question!.id, 'left')
    const ended = await done
    expect(ended).toMatchObject({ id, name: 'sample', state: 'completed' })
    expect(ended.result).toMatchObject({
      first: 1,
      all: [{ item: 'x' }, { item: 'y' }, { item: 'z' }],
      nested: { deep: true },
    })
    expect(countOf(id)).toBe(1 + 3 + 3 + 3 + 1)
    const standing = await engine.standing(id)
    expect(standing?.tasks.every(({ status }) => status !== 'running')).toBe(true)
    expect(worker.warnings).toEqual([])
  })

  test('is cancelled in a tool, takes back what was done, and does what is done at the end [9.restate-cancel]', async () => {
    const definition = flow(
      [
        tool('made', 'echo', { compensate: [tool('unmade', 'echo', { input: { undo: true } })] }),
        tool('long', 'hold'),
      ],
      { finally: [tool('clean', 'echo')] },
    )
    const { id, done } = await engine.start(definition, {})
    await until(async () => held.has(`${id}/long`) || undefined)
    await engine.cancel(id, 'enough')
    expect(await done).toMatchObject({
      state: 'cancelled',
      error: { code: 'CANCELLED', message: 'enough' },
    })
    expect(calls.filter((call) => call.startsWith(id))).toEqual([
      `${id}/made#1`,
      `${id}/long#1`,
      `${id}/made~undo/unmade#1`,
      `${id}/finally/clean#1`,
    ])
  })

  test('asks for its tools, and gives them the first answer [9.restate-steps] [9.restate-answers]', async () => {
    const { id, done } = await engine.start(flow([tool('curious', 'asks')]), {})
    const [question] = await until(async () => {
      const found = (await engine.get(id))?.questions
      return found?.length ? found : undefined
    })
    expect(question).toMatchObject({ id: 'curious.which', prompt: 'Which?' })
    const bare = createRestateEngine({ ingress: server.ingress, now: Date.now })
    expect(await bare.get(id)).toMatchObject({
      state: 'waiting_ai',
      questions: [{ id: 'curious.which' }],
    })
    await expect(engine.answer(id, question!.id, 'up')).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
    await expect(engine.answer(id, 'other', 'left')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const answers = await Promise.allSettled([
      engine.answer(id, question!.id, 'left'),
      engine.answer(id, question!.id, 'right'),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await done).toMatchObject({
      state: 'completed',
      result: { value: answers[0].status === 'fulfilled' ? 'left' : 'right' },
    })
    await expect(engine.answer(id, question!.id, 'left')).rejects.toMatchObject({
      code: 'CONFLICT',
    })
    await bare.close()
  })

  test('takes a second answer for a conflict, also when both come at the same time [9.restate-answers]', async () => {
    const { id, done } = await engine.start(
      flow([
        {
          type: 'ai_decision',
          name: 'choose',
          decision_type: 'pick',
          options: [{ value: 'left' }, { value: 'right' }],
        },
      ]),
      {},
    )
    const [question] = await until(async () => {
      const found = (await engine.get(id))?.questions
      return found?.length ? found : undefined
    })
    const answers = await Promise.allSettled(
      ['left', 'right', 'left'].map((value) => engine.answer(id, question!.id, value)),
    )
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const answer of answers)
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'CONFLICT' })
    expect((await done).state).toBe('completed')
  })

  test('joins a tool that still runs when the server was killed in its step [9.restate-killed]', async () => {
    const { id, done } = await engine.start(
      flow([tool('long', 'hold'), tool('after', 'echo', { input: { n: 1 } })]),
      {},
    )
    await until(async () => held.has(`${id}/long`) || undefined)
    await server.kill()
    await server.start()
    held.get(`${id}/long`)!()
    expect(await done).toMatchObject({ state: 'completed', result: { n: 1 } })
    expect(countOf(id)).toBe(2)
  })

  test('keeps what a tool gave while the server was away [9.restate-killed]', async () => {
    const { id, done } = await engine.start(flow([tool('long', 'hold')]), {})
    await until(async () => held.has(`${id}/long`) || undefined)
    await server.kill()
    held.get(`${id}/long`)!()
    await server.start()
    expect(await done).toMatchObject({ state: 'completed', result: 'let go' })
    expect(countOf(id)).toBe(1)
  })

  test('refuses a definition that was changed on its way [9.restate-hash]', async () => {
    const answer = await fetch(`${server.ingress}/toolable/r-00000000ff/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        definition: flow([tool('a', 'echo')]),
        hash: 'ff',
        input: {},
        created: 'now',
      }),
    })
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining('was changed on its way'),
    ])
    expect(await engine.get('r-00000000ff')).toMatchObject({ state: 'failed' })
    expect(countOf('r-00000000ff')).toBe(0)
  })

  test('lists executions by name and state, newest first, and says what it needs for it', async () => {
    const one = await engine.start(flow([tool('a', 'echo')], { name: 'listed' }), {})
    await one.done
    const two = await engine.start(flow([tool('a', 'fail')], { name: 'listed' }), {})
    await two.done
    const three = await engine.start(flow([tool('a', 'hold')], { name: 'listed' }), {})
    await until(async () => held.has(`${three.id}/a`) || undefined)
    expect((await engine.list({ name: 'listed' })).map(({ id, state }) => [id, state])).toEqual([
      [three.id, 'running'],
      [two.id, 'failed'],
      [one.id, 'completed'],
    ])
    expect((await engine.list({ name: 'listed', state: 'failed' })).map(({ id }) => id)).toEqual([
      two.id,
    ])
    expect(await engine.list({ limit: 1 })).toHaveLength(1)
    await engine.cancel(three.id)
    expect((await three.done).state).toBe('cancelled')
    await expect(
      createRestateEngine({ ingress: server.ingress, now: Date.now }).list(),
    ).rejects.toMatchObject({ code: 'CONFIG', message: expect.stringContaining('admin') })
  })

  test('joins an execution that is there under the same id', async () => {
    const definition = flow([tool('a', 'hold')])
    const first = await engine.start(definition, {})
    await until(async () => held.has(`${first.id}/a`) || undefined)
    const second = await engine.start(definition, {}, { id: first.id })
    held.get(`${first.id}/a`)!()
    expect(await Promise.all([first.done, second.done])).toMatchObject([
      { state: 'completed' },
      { state: 'completed' },
    ])
    expect(countOf(first.id)).toBe(1)
  })

  test('knows nothing of what never was', async () => {
    expect(await engine.get('r-0000000000')).toBeUndefined()
    await expect(engine.answer('r-0000000000', 'a', 1)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(engine.cancel('r-0000000000')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(engine.cancel("r-' or 1=1")).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

describe('where there is no server', () => {
  test('says which address it tried, and what to do, after a few tries [9.restate-unreachable]', async () => {
    const port = await freePort()
    const away = createRestateEngine({ ingress: `http://127.0.0.1:${port}`, now: Date.now })
    await expect(away.start(flow([tool('a', 'echo')]), {})).rejects.toMatchObject({
      code: 'DEPENDENCY',
      retryable: true,
      message: expect.stringContaining(`http://127.0.0.1:${port}`),
      suggestion: { fix: expect.stringContaining('--ingress') },
    })
    expect(() => createRestateEngine({ ingress: 'nowhere', now: Date.now })).toThrow(
      /not the address of a server/,
    )
  })

  test('gives up waiting for an end when its patience is over', async () => {
    const away = createRestateEngine({
      ingress: `http://127.0.0.1:${await freePort()}`,
      now: Date.now,
      patience: 0.01,
    })
    await expect(away.attach('r-0123456789').done).rejects.toMatchObject({ code: 'DEPENDENCY' })
  })

  test('says that no worker has registered', async () => {
    const empty = await startServer()
    try {
      await expect(
        createRestateEngine({ ingress: empty.ingress, now: Date.now }).start(
          flow([tool('a', 'echo')]),
          {},
        ),
      ).rejects.toMatchObject({
        code: 'DEPENDENCY',
        message: expect.stringContaining('no worker'),
        suggestion: { fix: expect.stringContaining('toolable worker') },
      })
    } finally {
      await empty.stop()
    }
  })
})

// Only what never comes is waited for so long.
function until<Found>(look: () => Promise<Found | undefined>): Promise<Found> {
  return vi.waitUntil(look, { timeout: HANG_MS, interval: 20 })
}
