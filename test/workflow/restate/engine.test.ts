import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Step, Workflow } from '../../../src/workflow/definition/workflow-type.ts'
import type { PerformTool, Settled } from '../../../src/workflow/engines/engine-type.ts'
import { restateEngine } from '../../../src/workflow/engines/restate/engine.ts'
import type { RestateEngine } from '../../../src/workflow/engines/restate/engine.ts'
import { startServer } from './server.ts'
import type { TestServer } from './server.ts'
import { openWorker } from './worker.ts'

let server: TestServer
let worker: Awaited<ReturnType<typeof openWorker>>
let engine: RestateEngine
const calls: string[] = []
const held = new Map<string, () => void>()

beforeAll(async () => {
  server = await startServer()
  worker = await openWorker(server.admin, perform)
  engine = restateEngine({ ingress: server.ingress, admin: server.admin, now: Date.now })
})
afterAll(async () => {
  await engine?.close()
  await worker?.close()
  await server?.stop()
})

/** `echo` gives its input, `fail` fails, `hold` works until it is let go. */
const perform: PerformTool = async ({ tool, given, idempotencyKey, attempt }, signal) => {
  calls.push(`${idempotencyKey}#${attempt}`)
  if (tool === 'fail') return { ok: false, error: { code: 'PRECONDITION', message: 'no', retryable: false } }
  if (tool === 'flaky' && attempt < 3) return { ok: false, error: { code: 'DEPENDENCY', message: 'not yet', retryable: true } }
  if (tool === 'hold') {
    return new Promise<Settled>((resolve) => {
      held.set(idempotencyKey, () => resolve({ ok: true, value: 'let go' }))
      signal.addEventListener('abort', () => resolve({ ok: false, error: { code: 'CANCELLED', message: 'stopped', retryable: false } }))
    })
  }
  return { ok: true, value: 'input' in given ? given.input : given.args }
}

const tool = (name: string, which: string, more: object = {}): Step => ({ type: 'tool', name, tool: which, ...more }) as Step
const flow = (steps: readonly Step[], more: Partial<Workflow> = {}): Workflow => ({ name: 'sample', steps, ...more })
const countOf = (id: string): number => calls.filter((call) => call.startsWith(id)).length

describe('the Restate engine', () => {
  test('takes every kind of step', async () => {
    const definition = flow([
      tool('first', 'echo', { input: { n: '${{ input.n }}' } }),
      { type: 'parallel', name: 'both', max_concurrency: 2, tasks: [tool('a', 'echo', { input: { v: 'a' } }), tool('b', 'echo', { input: { v: 'b' } }), tool('c', 'echo', { input: { v: 'c' } })] },
      { type: 'each', name: 'all', items: '${{ input.list }}', as: 'item', max_concurrency: 2, do: [tool('one', 'echo', { input: { item: '${{ item }}' } })] },
      { type: 'wait', name: 'pause', for: 0.05 },
      tool('again', 'flaky', { retry: { max: 3, delay: 0.01, factor: 1, longest: 1 } }),
      { type: 'workflow', name: 'nested', workflow: flow([tool('inner', 'echo', { input: { deep: true } })]) },
      tool('never', 'echo', { when: 'input.n == 2' }),
      { type: 'ai_decision', name: 'choose', decision_type: 'pick', instruction: 'Which?', options: [{ value: 'left' }, { value: 'right' }] },
    ], { output: { first: '${{ steps.first.result.n }}', both: '${{ steps.both.result }}', all: '${{ steps.all.result }}', nested: '${{ steps.nested.result }}', chosen: '${{ steps.choose.result }}' } })
    const { id, done } = await engine.start(definition, { n: 1, list: ['x', 'y', 'z'] })
    const [question] = await until(async () => { const found = (await engine.get(id))?.questions; return found?.length ? found : undefined })
    expect((await engine.get(id))?.state).toBe('waiting_ai')
    await expect(engine.answer(id, 'no-such', 'left')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(engine.answer(id, question!.id, 'up')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await engine.answer(id, question!.id, 'left')
    const ended = await done
    expect(ended).toMatchObject({ id, name: 'sample', state: 'completed' })
    expect(ended.result).toMatchObject({ first: 1, all: [{ item: 'x' }, { item: 'y' }, { item: 'z' }], nested: { deep: true } })
    expect(countOf(id)).toBe(1 + 3 + 3 + 3 + 1)
    const standing = await engine.standing(id)
    expect(standing?.tasks.every(({ status }) => status !== 'running')).toBe(true)
    expect(worker.warnings).toEqual([])
  })

  test('is cancelled in a tool, takes back what was done, and does what is done at the end', async () => {
    const definition = flow([tool('made', 'echo', { compensate: [tool('unmade', 'echo', { input: { undo: true } })] }), tool('long', 'hold')], { finally: [tool('clean', 'echo')] })
    const { id, done } = await engine.start(definition, {})
    await until(async () => held.has(`${id}/long`) || undefined)
    await engine.cancel(id, 'enough')
    expect(await done).toMatchObject({ state: 'cancelled', error: { code: 'CANCELLED', message: 'enough' } })
    expect(calls.filter((call) => call.startsWith(id))).toEqual([`${id}/made#1`, `${id}/long#1`, `${id}/made~undo/unmade#1`, `${id}/finally/clean#1`])
  })
})

async function until<Found>(look: () => Promise<Found | undefined>): Promise<Found> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
