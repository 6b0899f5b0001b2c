import { writeFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { WorkflowStep, Workflow } from '../../../src/workflow/definition/model.ts'
import { createRestateEngine } from '../../../src/workflow/restate/restate-engine.ts'
import type { RestateEngine } from '../../../src/workflow/restate/restate-engine.ts'
import { descendsFrom, listNaming } from '../../support/processes.ts'
import { freePort } from '../../../scripts/conformance/free-port.mjs'
import { renewAfterFailure } from '../../support/renew-after-failure.ts'
import { COUNT, makeProject } from '../support.ts'
import type { Project } from '../support.ts'
import { installSdk, openBalancer, startWorker } from './cluster.ts'
import type { WorkerProcess } from './cluster.ts'
import { startServer } from './server.ts'
import type { TestServer } from './server.ts'

let server: TestServer
let engine: RestateEngine
let project: Project
let port: number
let worker: WorkerProcess

renewAfterFailure(
  async () => {
    server = await startServer()
    engine = createRestateEngine({ ingress: server.ingress, admin: server.admin, now: Date.now })
    project = makeProject({ 'workflow/count.sh': COUNT })
    installSdk(project)
    port = await freePort()
    worker = await startWorker(project, server.admin, port)
  },
  async () => {
    await engine?.close()
    await worker?.kill()
    await server?.stop()
  },
)

/** A step that writes its name down, and ends when its gate is there. */
function count(
  name: string,
  { gate, ...more }: { readonly gate?: string; readonly [field: string]: unknown } = {},
): WorkflowStep {
  return {
    type: 'tool',
    name,
    tool: 'count',
    input: {
      name: `${name}-${mark}`,
      log: project.path('counted'),
      ...(gate !== undefined && { gate: project.path(`${gate}-${mark}`) }),
    },
    ...more,
  }
}
let mark = 0
const counted = (name: string): number =>
  project.counted().filter((line) => line === `${name}-${mark}`).length
const begun = (name: string, times = 1): Promise<unknown> =>
  expect.poll(() => counted(name)).toBe(times)
const open = (gate: string): void => writeFileSync(project.path(`${gate}-${mark}`), '')
const flow = (steps: readonly WorkflowStep[], more: Partial<Workflow> = {}): Workflow => ({
  name: 'crashing',
  steps,
  ...more,
})
const restart = async (): Promise<void> =>
  void (worker = await startWorker(project, server.admin, port))

// In tools, in parallel tools, in questions and on the way back: the suite that all engines pass
// does that.
describe('a workflow goes on where it was after SIGKILL', () => {
  test('of its worker and its server while it waits, and takes an answer that was given with no worker alive [9.restate-killed] [9.restate-answers]', async () => {
    mark += 1
    const { id, done } = await engine.start(
      flow(
        [
          count('before'),
          {
            type: 'ai_decision',
            name: 'choose',
            decision_type: 'pick',
            options: [{ value: 'left' }, { value: 'right' }],
          },
          count('after'),
        ],
        { output: '${{ steps.choose.result }}' },
      ),
      {},
    )
    await expect
      .poll(async () => (await engine.get(id))?.questions?.map((question) => question.id))
      .toEqual(['choose'])
    await worker.kill()
    expect(await engine.get(id)).toMatchObject({
      state: 'waiting_ai',
      questions: [{ id: 'choose' }],
    })
    const answered = engine.answer(id, 'choose', 'right')
    await answered
    await server.kill()
    await server.start()
    await restart()
    const ended = await done
    expect(ended.state).toBe('completed')
    expect(JSON.stringify(ended.result)).toContain('right')
    expect([counted('before'), counted('after')]).toEqual([1, 1])
  })

  test('of its server in a step, whose tool runs on and is joined [9.restate-killed]', async () => {
    mark += 1
    const { done } = await engine.start(
      flow([count('first'), count('second', { gate: 'go' }), count('third')]),
      {},
    )
    await begun('second')
    await server.kill()
    await server.start()
    open('go')
    expect(await done).toMatchObject({ state: 'completed' })
    expect([counted('first'), counted('second'), counted('third')]).toEqual([1, 1, 1])
  })
})

describe('a workflow is cancelled', () => {
  test('with no worker alive: when one comes [9.restate-cancel]', async () => {
    mark += 1
    const { id, done } = await engine.start(
      flow([count('made', { compensate: [count('unmade')] }), count('long', { gate: 'never' })]),
      {},
    )
    await begun('long')
    await worker.kill()
    await engine.cancel(id, 'late')
    await restart()
    expect(await done).toMatchObject({ state: 'cancelled', error: { message: 'late' } })
    expect(counted('unmade')).toBe(1)
  })
})

describe('workers', () => {
  test.each(['that performs a step', 'that performs none'])(
    'behind one address take over from each other, when first the one dies %s [9.restate-workers]',
    async (which) => {
      mark += 1
      const ports = [await freePort(), await freePort()]
      const balancer = await openBalancer(ports)
      const pool: WorkerProcess[] = []
      const join = async (index: number): Promise<void> =>
        void (pool[index] = await startWorker(project, server.admin, ports[index]!, [
          '--advertise',
          balancer.url,
        ]))
      onTestFinished(async () => {
        balancer.close()
        for (const one of pool) await one?.kill()
        await worker.kill()
        await restart()
      })
      await Promise.all([join(0), join(1)])
      const { done } = await engine.start(
        flow([count('first'), count('second', { gate: 'go' }), count('third')]),
        {},
      )
      await begun('second')
      const tools = listNaming(project.path(`go-${mark}`))
      const performs = (one: WorkerProcess): boolean =>
        tools.some((pid) => descendsFrom(pid, one.running.pid))
      expect(pool.filter(performs)).toHaveLength(1)
      const first = pool.findIndex((one) => performs(one) === (which === 'that performs a step'))
      // The other one has the step then, and a new one after the second death.
      await pool[first]!.kill()
      await join(first)
      await pool[1 - first]!.kill()
      open('go')
      expect(await done).toMatchObject({ state: 'completed', result: { name: `third-${mark}` } })
      expect([counted('first'), counted('third')]).toEqual([1, 1])
      expect([2, 3]).toContain(counted('second'))
    },
  )

  test('let a step end when they are told to stop, and exit 0 [9.restate-workers]', async () => {
    mark += 1
    const { done } = await engine.start(flow([count('slow', { gate: 'go' }), count('next')]), {})
    await begun('slow')
    worker.running.kill('SIGTERM')
    open('go')
    expect((await worker.running.ended).status).toBe(0)
    await restart()
    expect(await done).toMatchObject({ state: 'completed' })
    expect([counted('slow'), counted('next')]).toEqual([1, 1])
  })

  test('leave a step that does not end to others [9.restate-workers]', async () => {
    mark += 1
    await worker.kill()
    worker = await startWorker(project, server.admin, port, ['--grace', '0'])
    const { done } = await engine.start(flow([count('slow', { gate: 'go' })]), {})
    await begun('slow')
    worker.running.kill('SIGTERM')
    expect((await worker.running.ended).status).toBe(0)
    await restart()
    await begun('slow', 2)
    open('go')
    expect(await done).toMatchObject({ state: 'completed' })
  })
})
