import type { ChildProcess, StdioOptions } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { Server } from 'node:net'
import type { ToolError } from '../../../contract/tool-error.ts'
import { ownProgram } from '../../host.ts'
import { coverInherited } from '../../inherited.ts'
import type { Identity } from '../tool/identity.ts'
import type { SandboxPrograms } from '../tool/programs.ts'
import { explainRefusal } from '../why-not.ts'
import type { InnerServer } from './inner-names.ts'

const LONGEST_START = 15_000
const LONGEST_WORDS = 4000
/** Where the channel and the program stand among the descriptors of the opener. */
const PROGRAM = 4

/**
 * Runs in the new network: opens each listener, hands it over and keeps none, because who keeps one would take connections too. Then it waits until the tool has entered,
 * for a network that nobody is in cannot be entered.
 */
const OPENER = `const { createServer } = require('node:net')
process.once('disconnect', () => process.exit())
const open = async () => {
  for (const [address, port] of JSON.parse(process.argv[1])) {
    const server = createServer()
    await new Promise((resolve, reject) => server.once('error', reject).listen(port, address, resolve))
    await new Promise((resolve, reject) => process.send({ address, port }, server, (error) => (error ? reject(error) : resolve())))
    server.close()
  }
  process.send({ pid: process.pid })
}
open().catch((error) => process.send({ problem: error.message }))`

/** A network of its own with nothing in it but listeners that are ours. */
export type OpenListeners = {
  /** In the order in which they were asked for. */
  readonly listeners: readonly Server[]
  /** A process that is in that network, until it is let go. */
  readonly pid: number
  letGo(): void
}

/** Makes a network with a listener for each server. Resolves with the reason where this machine does not allow it. */
export async function openListeners(
  servers: readonly InnerServer[],
  { bwrap }: SandboxPrograms,
  { uid, gid, isDropped }: Identity,
): Promise<OpenListeners | ToolError> {
  const { spawn } = await import('node:child_process')
  // Through its descriptor, because another user may not get to where it lies.
  const program = openSync(ownProgram, 'r')
  const stdio: unknown[] = ['ignore', 'ignore', 'pipe', 'ipc', program]
  const uncover = coverInherited(stdio)
  const bubble = [
    bwrap,
    '--unshare-user',
    '--unshare-net',
    '--die-with-parent',
    '--cap-drop',
    'ALL',
    '--cap-add',
    'CAP_NET_BIND_SERVICE',
    '--dev-bind',
    '/',
    '/',
    '--',
  ]
  const [command, ...args] = [
    ...bubble,
    `/proc/self/fd/${PROGRAM}`,
    '-e',
    OPENER,
    JSON.stringify(servers.map(({ address, port }) => [address, port])),
  ]
  try {
    return await collect(
      spawn(command, args, {
        cwd: '/',
        env: {},
        stdio: stdio as StdioOptions,
        ...(isDropped && { uid, gid }),
      }),
    )
  } finally {
    uncover()
    closeSync(program)
  }
}

type Message = { readonly pid?: number; readonly problem?: string }

function collect(opener: ChildProcess): Promise<OpenListeners | ToolError> {
  return new Promise((resolve) => {
    const listeners: Server[] = []
    let words = ''
    const letGo = (): void => {
      if (opener.connected) opener.disconnect()
      opener.stderr?.destroy()
    }
    const settle = (result: OpenListeners | ToolError): void => {
      clearTimeout(longest)
      resolve(result)
    }
    const fail = (why: string): void => {
      for (const listener of listeners) listener.close()
      letGo()
      opener.kill('SIGKILL')
      settle(explainRefusal(why))
    }
    const longest = setTimeout(
      () => fail(`it took more than ${LONGEST_START / 1000} s`),
      LONGEST_START,
    )
    opener.stderr
      ?.on('data', (chunk: Buffer) => {
        if (words.length < LONGEST_WORDS) words += chunk.toString()
      })
      .on('error', () => {})
    opener.on('error', (error) => fail(error.message))
    opener.once('close', () =>
      fail(
        words
          .trim()
          .split('\n')[0]!
          .replace(/^bwrap: /, '') || 'the network could not be made',
      ),
    )
    opener.on('message', ({ pid, problem }: Message, listener) => {
      if (listener) listeners.push(listener as Server)
      else if (pid === undefined) fail(problem ?? 'the listeners could not be opened')
      else settle({ listeners, pid, letGo })
    })
  })
}
