/**
 * Lets a tool reach exactly the servers it was granted: a network namespace with loopback
 * listeners, each relayed to one host and port.
 */

import type { ChildProcess, StdioOptions } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { LookupFunction, Server, Socket } from 'node:net'
import { maskInheritedDescriptors } from '../process/channels.ts'
import type { ToolProfile } from '../process/child.ts'
import type { EgressGrant } from '../process/grants.ts'
import { nodePath } from '../process/host.ts'
import { findProgram } from '../process/programs.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { waitAtMost } from '../util/async.ts'
import { listWords } from '../util/text.ts'
import { compact } from '../util/values.ts'
import { toBubblewrapError, toNoSandboxError } from './bubblewrap.ts'
import type { FindServerAddresses } from './egress-addresses.ts'
import { pinAddresses } from './egress-addresses.ts'
import type { SandboxPrograms, SandboxUser } from './requirements.ts'
import { SYSTEM_PATH } from './requirements.ts'

/** Connections of one tool at the same time; each takes two of our descriptors. */
const MAX_CONNECTIONS = 512
/** How long the last bytes of a tool may take to be sent after its end. */
const FLUSH_TIMEOUT_MS = 1000

/**
 * Lets a tool connect to exactly these servers: in its own network their names resolve to listeners
 * of ours, which relay each connection to that host and port.
 */
export async function openEgress(
  grants: readonly EgressGrant[],
  programs: SandboxPrograms,
  who: SandboxUser,
  onConnection: ToolProfile['onConnection'] = () => {},
): Promise<SandboxNetwork | ToolError> {
  const nsenter = findProgram('nsenter', SYSTEM_PATH)
  if (nsenter === undefined)
    return toNoSandboxError('nsenter is not installed', 'sudo apt-get install util-linux')
  const { connect } = await import('node:net')
  const { servers, hosts } = assignAddresses(grants)
  const opened = await openListeners(servers, programs, who)
  if (opened instanceof ToolError) return opened
  const relays = new Set<EgressRelay>()
  opened.listeners.forEach((listener, index) => {
    const { host, port } = servers[index]!
    const find = pinAddresses(servers[index]!)
    listener
      .on('error', () => {})
      .on('connection', (inner: Socket) => {
        if (relays.size >= MAX_CONNECTIONS) {
          inner.on('error', () => {}).resetAndDestroy()
          return onConnection({
            host,
            port,
            refused: `the tool has ${MAX_CONNECTIONS} connections already`,
          })
        }
        const one = relayConnection(inner, { host, port, find }, connect, onConnection)
        relays.add(one)
        void one.closed.then(() => relays.delete(one))
      })
  })
  return {
    isShared: false,
    hosts,
    enter: (asRoot) => [
      nsenter,
      ...(asRoot ? [] : ['--user', '--preserve-credentials']),
      '--net',
      '--target',
      String(opened.pid),
      '--',
    ],
    entered: opened.release,
    release: async (hasEndedWell) => {
      opened.release()
      if (hasEndedWell) await flushRelays(relays)
      for (const listener of opened.listeners) listener.close()
      for (const one of relays) one.destroy()
    },
  }
}

async function flushRelays(relays: ReadonlySet<EgressRelay>): Promise<void> {
  // Connections in the queue are accepted in the next turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve))
  await waitAtMost(FLUSH_TIMEOUT_MS, Promise.all([...relays].map(({ sent }) => sent)))
}

/** The network of a tool. */
export type SandboxNetwork = {
  /** It is the network of this machine. */
  readonly isShared: boolean
  /** The content of /etc/hosts; absent when names are resolved as on the real machine. */
  readonly hosts?: string
  /** The command prefix that enters an existing network. `asRoot`: root enters and stays root. */
  readonly enter?: (asRoot: boolean) => readonly string[]
  /** Call it when the tool has entered its network. */
  readonly entered?: () => void
  /** Call it after the end of the tool; its last bytes are still sent if it ended by itself. */
  release(hasEndedWell: boolean): void | Promise<void>
}

const START_TIMEOUT_MS = 15_000
const MAX_ERROR_CHARACTERS = 4000
/** The descriptor of node in the opener. */
const PROGRAM_DESCRIPTOR = 4

/**
 * Runs in the new network: opens each listener, sends it to us and closes its own copy, which would
 * accept connections too. Then it waits until the tool has entered, because a network without
 * processes cannot be entered.
 */
const OPENER_SCRIPT = `const { createServer } = require('node:net')
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

/** A network with nothing but our listeners. */
type EgressListeners = {
  /** In the order of the servers. */
  readonly listeners: readonly Server[]
  /** A process in that network, until `release`. */
  readonly pid: number
  release(): void
}

/** Creates a network with a listener for each server, or returns why this machine cannot. */
async function openListeners(
  servers: readonly EgressServer[],
  { bwrap }: SandboxPrograms,
  { uid, gid, isDropped }: SandboxUser,
): Promise<EgressListeners | ToolError> {
  const { spawn } = await import('node:child_process')
  // By its descriptor, because another user may not be able to reach its folder.
  const program = openSync(nodePath, 'r')
  const stdio: unknown[] = ['ignore', 'ignore', 'pipe', 'ipc', program]
  const unmask = maskInheritedDescriptors(stdio)
  const args = [
    ...listWords('--unshare-user --unshare-net --die-with-parent --cap-drop ALL'),
    ...listWords('--cap-add CAP_NET_BIND_SERVICE --dev-bind / / --'),
    `/proc/self/fd/${PROGRAM_DESCRIPTOR}`,
    '-e',
    OPENER_SCRIPT,
    JSON.stringify(servers.map(({ address, port }) => [address, port])),
  ]
  const identity = isDropped ? { uid, gid } : {}
  try {
    return await collectListeners(
      spawn(bwrap, args, { cwd: '/', env: {}, stdio: stdio as StdioOptions, ...identity }),
    )
  } finally {
    unmask()
    closeSync(program)
  }
}

type OpenerMessage = { readonly pid?: number; readonly problem?: string }

function collectListeners(opener: ChildProcess): Promise<EgressListeners | ToolError> {
  return new Promise((resolve) => {
    const listeners: Server[] = []
    let stderr = ''
    const release = (): void => {
      if (opener.connected) opener.disconnect()
      opener.stderr?.destroy()
    }
    const settle = (result: EgressListeners | ToolError): void => {
      clearTimeout(timer)
      resolve(result)
    }
    const fail = (why: string): void => {
      for (const listener of listeners) listener.close()
      release()
      opener.kill('SIGKILL')
      settle(toBubblewrapError(why))
    }
    const timer = setTimeout(
      () => fail(`it took more than ${START_TIMEOUT_MS / 1000} s`),
      START_TIMEOUT_MS,
    )
    opener.stderr
      ?.on('data', (chunk: Buffer) => {
        if (stderr.length < MAX_ERROR_CHARACTERS) stderr += chunk.toString()
      })
      .on('error', () => {})
    opener.on('error', (error) => fail(error.message))
    opener.once('close', () => {
      const [line = ''] = stderr.trim().split('\n')
      fail(line.replace(/^bwrap: /, '') || 'the network could not be made')
    })
    opener.on('message', ({ pid, problem }: OpenerMessage, listener) => {
      if (listener) listeners.push(listener as Server)
      else if (pid === undefined) fail(problem ?? 'the listeners could not be opened')
      else settle({ listeners, pid, release })
    })
  })
}

/** How long one address may be silent before the next is tried too. */
const NEXT_ADDRESS_MS = 1000

type RelayTarget = {
  readonly host: string
  readonly port: number
  readonly find: FindServerAddresses
}
type ConnectFunction = typeof import('node:net').connect

/** A relayed connection of a tool. */
type EgressRelay = {
  /** Resolves when everything that the tool sent is relayed, or the connection is closed. */
  readonly sent: Promise<void>
  /** Resolves when both sides are closed. */
  readonly closed: Promise<unknown>
  /** Closes both sides immediately. */
  destroy(): void
}

/**
 * Relays a connection of a tool to its server, byte for byte: half-closed connections, backpressure
 * and resets are relayed too.
 */
function relayConnection(
  inner: Socket,
  { host, port, find }: RelayTarget,
  connect: ConnectFunction,
  report: NonNullable<ToolProfile['onConnection']>,
): EgressRelay {
  const lookup: LookupFunction = (_host, { all }, answer) => {
    find().then(
      (found) =>
        all ? answer(null, [...found]) : answer(null, found[0]!.address, found[0]!.family),
      (error: NodeJS.ErrnoException) => answer(error, []),
    )
  }
  const outer = connect({
    host,
    port,
    lookup,
    allowHalfOpen: true,
    noDelay: true,
    keepAlive: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
  })
  let isConnected = false
  inner.allowHalfOpen = true
  inner.setNoDelay(true)
  outer.once('connect', () => {
    isConnected = true
    report(compact({ host, port, address: outer.remoteAddress }))
    inner.pipe(outer)
    outer.pipe(inner)
  })
  outer.on('error', (error: NodeJS.ErrnoException) => {
    if (!isConnected)
      report({ host, port, refused: error.message || error.code || 'no connection' })
    resetSocket(inner)
  })
  inner.on('error', () => resetSocket(outer))
  const closed = [inner, outer].map(
    (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
  )
  const finished = new Promise<void>((resolve) => outer.once('finish', resolve))
  return {
    sent: Promise.race([finished, closed[1]!]),
    closed: Promise.all(closed),
    destroy: () => {
      inner.destroy()
      outer.destroy()
    },
  }
}

// A socket that is still connecting would be reset only after it has connected.
function resetSocket(socket: Socket): void {
  if (socket.connecting) socket.destroy()
  else socket.resetAndDestroy()
}

/** Names that programs resolve to their own machine themselves. */
const LOCALHOST_NAME = /(^|\.)localhost$|^127\.0\.0\.1$/
const LOOPBACK_ADDRESS = '127.0.0.1'
const ADDRESSES_PER_BLOCK = 250

/** A server with the address that its name has in the sandbox. */
type EgressServer = EgressGrant & { readonly address: string }

/** Assigns an address in the sandbox to each server, and writes /etc/hosts. */
export function assignAddresses(grants: readonly EgressGrant[]): {
  readonly servers: readonly EgressServer[]
  readonly hosts: string
} {
  const hosts = [...new Set(grants.map(({ host }) => host))]
  const names = hosts.filter((host) => !LOCALHOST_NAME.test(host))
  const ownNames = hosts.filter((host) => LOCALHOST_NAME.test(host) && host !== LOOPBACK_ADDRESS)
  const getAddress = (host: string): string =>
    LOCALHOST_NAME.test(host) ? LOOPBACK_ADDRESS : toLoopbackAddress(names.indexOf(host))
  const servers = grants.map((grant) => ({ ...grant, address: getAddress(grant.host) }))
  return {
    // Two names of this machine are one server.
    servers: [
      ...new Map(servers.map((server) => [`${server.address}:${server.port}`, server])).values(),
    ],
    hosts: [
      ...[...new Set(['localhost', ...ownNames])].map((host) => `${LOOPBACK_ADDRESS} ${host}`),
      // Our listeners for this machine have the IPv4 address only.
      ...(ownNames.includes('localhost') ? [] : ['::1 localhost']),
      ...names.map((host) => `${getAddress(host)} ${host}`),
      '',
    ].join('\n'),
  }
}

function toLoopbackAddress(index: number): string {
  return `127.77.${Math.floor(index / ADDRESSES_PER_BLOCK)}.${1 + (index % ADDRESSES_PER_BLOCK)}`
}
