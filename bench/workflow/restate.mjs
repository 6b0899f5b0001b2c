// The same workflow on a Restate server of one partition, by a worker in this process that adds
// without a registry.
import { spawn } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { freePort } from '../../scripts/conformance/free-port.mjs'
import { createAdminServer, registerWorker } from '../../src/workflow/restate/client.ts'
import { createRestateEngine } from '../../src/workflow/restate/restate-engine.ts'
import { loadRestateSdk } from '../../src/workflow/restate/sdk.ts'
import { LiveSteps, openWorkerEndpoint } from '../../src/workflow/restate/worker.ts'
import { createWorkerServices } from '../../src/workflow/restate/worker-services.ts'
import { threeSteps } from './embedded.mjs'

const packages = process.env.RESTATE_PACKAGES

export async function restate(folder) {
  const [ingressPort, adminPort, fabric] = [await freePort(), await freePort(), await freePort()]
  const [ingress, admin] = [`http://127.0.0.1:${ingressPort}`, `http://127.0.0.1:${adminPort}`]
  const program = createRequire(join(packages, 'package.json')).resolve(
    `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
  )
  const log = openSync(join(folder, 'log'), 'a')
  const server = spawn(
    program,
    ['--no-logo', '--node-name', 'bench', '--base-dir', join(folder, 'data')],
    {
      stdio: ['ignore', log, log],
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        RESTATE_DISABLE_TELEMETRY: 'true',
        DO_NOT_TRACK: '1',
        RESTATE_LOG_FILTER: 'warn',
        RESTATE_LISTEN_MODE: 'tcp',
        RESTATE_DEFAULT_NUM_PARTITIONS: '1',
        RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: '128MB',
        RESTATE_BIND_ADDRESS: `127.0.0.1:${fabric}`,
        RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${fabric}`,
        RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingressPort}`,
        RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${adminPort}`,
      },
    },
  )
  process.once('exit', () => server.kill('SIGKILL'))
  while (!(await isUp(`${admin}/health`)) || !(await isUp(`${ingress}/restate/health`)))
    await new Promise((resolve) => setTimeout(resolve, 50))
  const sdk = await loadRestateSdk(packages)
  const add = async ({
    given: {
      input: { a, b },
    },
  }) => ({ ok: true, value: a + b })
  const endpoint = await openWorkerEndpoint(sdk, {
    host: '127.0.0.1',
    port: 0,
    services: createWorkerServices(sdk, { steps: new LiveSteps(add) }),
    onWarning: console.error,
  })
  await registerWorker(createAdminServer(admin), `http://127.0.0.1:${endpoint.port}`, {
    signal: AbortSignal.timeout(30_000),
  })
  const definition = await threeSteps.definition()
  const engine = createRestateEngine({ ingress, now: Date.now })
  return {
    async execute(n) {
      const { done } = await engine.start(definition, { n })
      const { state, result } = await done
      if (state !== 'completed' || result !== n + 3)
        throw new Error(`a workflow ended as ${state} with ${result}`)
    },
    around: () => usage(server.pid),
    async close() {
      await engine.close()
      await endpoint.close()
      server.kill('SIGKILL')
    },
  }
}

// CPU in microseconds, by ticks of a hundredth of a second, and memory.
function usage(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number)
  return {
    cpu: (user + system) * 10_000,
    memory: Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024,
  }
}

const isUp = (url) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )
