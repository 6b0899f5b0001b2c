import { describe } from 'vitest'
import { createRestateEngine } from '../../../src/workflow/restate/restate-engine.ts'
import { COUNT, makeProject } from '../support.ts'
import { installSdk, startWorker } from '../restate/cluster.ts'
import { freePort } from '../../../scripts/conformance/free-port.mjs'
import { startServer } from '../restate/server.ts'
import type { EngineUnderTest } from './engine-under-test.ts'
import { rounds } from '../../support/rounds.ts'
import { conformanceSuite, killSeries } from './suite.ts'
import '../../support/without-coverage.ts'

describe('one suite for every engine [9.conformance] [9.restate-killed] [9.restate-cancel]', () =>
  conformanceSuite('the Restate engine', openRestate))
describe('one series of kills for every engine [9.conformance] [9.restate-killed]', () =>
  killSeries('the Restate engine', openRestate, rounds(50)))

async function openRestate(): Promise<EngineUnderTest> {
  const server = await startServer()
  const engine = createRestateEngine({
    ingress: server.ingress,
    admin: server.admin,
    now: Date.now,
  })
  const project = makeProject({ 'workflow/count.sh': COUNT })
  installSdk(project)
  const port = await freePort()
  let worker = await startWorker(project, server.admin, port)
  const revive = async (crashAt?: string): Promise<void> =>
    void (worker = await startWorker(
      project,
      server.admin,
      port,
      [],
      crashAt === undefined ? {} : { TOOLABLE_CRASH_AT: crashAt },
    ))
  return {
    project,
    crashPoints: [
      'worker.asked#1',
      'worker.asked#4',
      'worker.performed#1',
      'worker.performed#5',
      'worker.recorded#1',
      'worker.recorded#6',
    ],
    async start(definition, { crashAt } = {}) {
      if (crashAt !== undefined) {
        await worker.kill()
        await revive(crashAt)
      }
      return (await engine.start(definition, {})).id
    },
    questions: async (id) =>
      ((await engine.get(id))?.questions ?? []).map((question) => question.id),
    answer: (id, question, value) => engine.answer(id, question, value),
    cancel: (id) => engine.cancel(id),
    kill: () => worker.kill(),
    died: async () => {
      await worker.running.ended
      await worker.kill()
    },
    revive: () => revive(),
    async killServer() {
      await server.kill()
      await server.start()
    },
    recorded: async (id) =>
      ((await engine.standing(id))?.tasks ?? [])
        .filter(({ status }) => status !== 'running')
        .map(({ call }) => wordOf(call)),
    isOver: async (id) =>
      ['completed', 'failed', 'cancelled'].includes((await engine.get(id))!.state),
    async outcome(id) {
      const { state, result, error } = await engine.attach(id).done
      return {
        state,
        ...(result !== undefined && { result }),
        ...(error && { code: error.code, step: error.details?.['step'] }),
      }
    },
    describe: async (id) => JSON.stringify([await engine.get(id), await engine.standing(id)]),
    async close() {
      await engine.close()
      await worker.kill()
      await server.stop()
    },
  }
}

function wordOf({ given }: { readonly given: object }): string {
  return String((given as { readonly input?: { readonly name?: unknown } }).input?.name)
}
