import { existsSync, symlinkSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { untilToolsAreGone } from '../../support/processes.ts'
import type { Running } from '../../support/run-program.ts'
import { AS_LONG_AS_ITS_FILE } from '../../support/run-program.ts'
import type { Project } from '../support.ts'
import { PACKAGES } from './server.ts'

/** A worker in a process of its own. */
export type WorkerProcess = {
  readonly running: Running
  /** SIGKILL, and gone when it resolves. */ kill(): Promise<void>
}

/**
 * Makes the SDK one of the packages that a project finds: in the folder around it, where its tools
 * may not write, and which the projects of a test file share.
 */
export function installSdk(project: Project): void {
  const place = join(project.folder, '..', 'node_modules')
  if (!existsSync(place)) symlinkSync(join(PACKAGES, 'node_modules'), place)
}

/** Starts a worker in a project; resolves when it is registered. */
export async function startWorker(
  project: Project,
  admin: string,
  port: number,
  more: readonly string[] = [],
  env: { readonly [name: string]: string } = {},
): Promise<WorkerProcess> {
  const running = project.start(
    ['worker', '--listen', `127.0.0.1:${port}`, '--admin', admin, ...more],
    { longest: AS_LONG_AS_ITS_FILE, env },
  )
  await running.said('"listening"', 'stderr')
  return {
    running,
    async kill() {
      running.kill('SIGKILL')
      await running.ended
      // What it started dies with it, but not at the same moment. What other workers of the project
      // started lives on.
      await untilToolsAreGone(join(project.folder, 'tools'))
    },
  }
}

/** Hands connections to the first of several ports that takes them, as a balancer does. */
export async function openBalancer(
  ports: readonly number[],
): Promise<{ readonly url: string; close(): void }> {
  const sockets = new Set<Socket>()
  let turn = 0
  const server = createServer((client) => {
    sockets.add(client)
    const attempt = (left: number): void => {
      const upstream = connect(ports[(turn += 1) % ports.length]!, '127.0.0.1')
      sockets.add(upstream)
      let isTaken = false
      upstream.once('connect', () => {
        isTaken = true
        client.pipe(upstream)
        upstream.pipe(client)
        upstream.once('close', () => client.destroy())
        client.once('close', () => upstream.destroy())
        if (client.destroyed) upstream.destroy()
      })
      // What a worker has taken is lost with it: another one would get the rest alone.
      upstream.on('error', () => {
        if (!isTaken && left > 1) attempt(left - 1)
        else client.destroy()
      })
    }
    client.on('error', () => undefined)
    attempt(ports.length)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
