import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../../scripts/conformance/free-port.mjs'
import { HANG_MS } from '../../support/limits.ts'

/** The folder in which the SDK and the server are installed. */
export const PACKAGES = fileURLToPath(new URL('packages', import.meta.url))

/** A real Restate server on loopback, with data of its own. */
export type TestServer = {
  readonly ingress: string
  readonly admin: string
  readonly pid: number
  /** SIGKILL, and gone when it resolves. */
  kill(): Promise<void>
  /** Starts it again over the same data, at the same addresses. */
  start(): Promise<void>
  /** Ends it and removes its data. */
  stop(): Promise<void>
}

const LONGEST_START = HANG_MS

/** Starts a server; resolves when it takes requests. */
export async function startServer(
  extra: { readonly [name: string]: string } = {},
): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'toolable-restate-'))
  const [ingressPort, adminPort, fabric] = [await freePort(), await freePort(), await freePort()]
  const [ingress, admin] = [`http://127.0.0.1:${ingressPort}`, `http://127.0.0.1:${adminPort}`]
  const log = join(folder, 'server.log')
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    RESTATE_DISABLE_TELEMETRY: 'true',
    DO_NOT_TRACK: '1',
    RESTATE_LOG_FILTER: 'warn',
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_BIND_ADDRESS: `127.0.0.1:${fabric}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${fabric}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingressPort}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${adminPort}`,
    RESTATE_DEFAULT_NUM_PARTITIONS: '1',
    RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: '64MB',
    RESTATE_SHUTDOWN_TIMEOUT: '2s',
    ...extra,
  }
  let child: ChildProcess
  let gone: Promise<unknown>
  const start = async (): Promise<void> => {
    const file = openSync(log, 'a')
    child = spawn(
      serverProgram(),
      ['--no-logo', '--node-name', 'test', '--base-dir', join(folder, 'data')],
      { env, stdio: ['ignore', file, file] },
    )
    gone = new Promise((resolve) => child.once('exit', resolve))
    await untilHealthy(
      () => child.exitCode === null && child.signalCode === null,
      [`${admin}/health`, `${ingress}/restate/health`],
      log,
    )
  }
  // A test process that dies takes its server along.
  const last = (): void => void child?.kill('SIGKILL')
  process.once('exit', last)
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await gone
  }
  await start()
  return {
    ingress,
    admin,
    kill,
    start,
    get pid() {
      return child.pid!
    },
    async stop() {
      await kill()
      process.removeListener('exit', last)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The program of this platform; the npm package around it would be one more process. */
export function serverProgram(): string {
  return createRequire(join(PACKAGES, 'package.json')).resolve(
    `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
  )
}

async function untilHealthy(
  isAlive: () => boolean,
  urls: readonly string[],
  log: string,
): Promise<void> {
  for (const end = Date.now() + LONGEST_START; Date.now() < end; await pause(20)) {
    if (!isAlive()) break
    const answers = await Promise.all(
      urls.map((url) =>
        fetch(url).then(
          ({ ok }) => ok,
          () => false,
        ),
      ),
    )
    if (answers.every(Boolean)) return
  }
  throw new Error(`the Restate server did not start: ${readFileSync(log, 'utf8').slice(-1000)}`)
}
