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
import { compact } from '../util/values.ts'
import { toBubblewrapError, toNoSandboxError } from './bubblewrap.ts'
import type { FindServerAddresses } from './egress-addresses.ts'
import { pinAddresses } from './egress-addresses.ts'
import type { SandboxPrograms, SandboxUser } from './requirements.ts'
import { SYSTEM_PATH } from './requirements.ts'

/**
 * Connections that one tool may have at the same time, because each of them takes two of our
 * descriptors.
 */
const MAX_CONNECTIONS = 512
/** How long what a tool sent last may take to leave after the tool is over. */
const FLUSH_TIMEOUT_MS = 1000

/**
 * Lets a tool talk to exactly these servers: in a network of its own their names lead to listeners
 * of ours, and each connection is passed on to the server of that name and port alone.
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
  // Connections that wait in a queue are taken in the next turn.
  await new Promise((resolve) => setImmediate(resolve))
  let longest: NodeJS.Timeout | undefined
  const enough = new Promise((resolve) => {
    longest = setTimeout(resolve, FLUSH_TIMEOUT_MS)
  })
  await Promise.race([Promise.all([...relays].map(({ sent }) => sent)), enough])
  clearTimeout(longest)
}

/** What the network of a tool asks of its sandbox. */
export type SandboxNetwork = {
  /** Whether it is the network of this machine. */
  readonly isShared: boolean
  /** The content of /etc/hosts; absent where the names of the real machine count. */
  readonly hosts?: string
  /**
   * The command in front of another that starts it in a network that is there already. `asRoot`: it
   * is root who enters, and stays root.
   */
  readonly enter?: (asRoot: boolean) => readonly string[]
  /** When the tool is in its network. */
  readonly entered?: () => void
  /** When the tool is over; what it sent last is still passed on where it ended by itself. */
  release(hasEndedWell: boolean): void | Promise<void>
}

const START_TIMEOUT_MS = 15_000
const MAX_ERROR_CHARACTERS = 4000
/** Where the channel and the program stand among the descriptors of the opener. */
const PROGRAM_DESCRIPTOR = 4

/**
 * Runs in the new network: opens each listener, hands it over and keeps none, because who keeps one
 * would take connections too. Then it waits until the tool has entered,
 * for a network that nobody is in cannot be entered.
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

/** A network of its own with nothing in it but listeners that are ours. */
type EgressListeners = {
  /** In the order in which they were asked for. */
  readonly listeners: readonly Server[]
  /** A process that is in that network, until it is let go. */
  readonly pid: number
  release(): void
}

/**
 * Makes a network with a listener for each server. Resolves with the reason where this machine does
 * not allow it.
 */
async function openListeners(
  servers: readonly EgressServer[],
  { bwrap }: SandboxPrograms,
  { uid, gid, isDropped }: SandboxUser,
): Promise<EgressListeners | ToolError> {
  const { spawn } = await import('node:child_process')
  // Through its descriptor, because another user may not get to where it lies.
  const program = openSync(nodePath, 'r')
  const stdio: unknown[] = ['ignore', 'ignore', 'pipe', 'ipc', program]
  const uncover = maskInheritedDescriptors(stdio)
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
    `/proc/self/fd/${PROGRAM_DESCRIPTOR}`,
    '-e',
    OPENER_SCRIPT,
    JSON.stringify(servers.map(({ address, port }) => [address, port])),
  ]
  const identity = isDropped ? { uid, gid } : {}
  try {
    return await collectListeners(
      spawn(command, args, { cwd: '/', env: {}, stdio: stdio as StdioOptions, ...identity }),
    )
  } finally {
    uncover()
    closeSync(program)
  }
}

type OpenerMessage = { readonly pid?: number; readonly problem?: string }

function collectListeners(opener: ChildProcess): Promise<EgressListeners | ToolError> {
  return new Promise((resolve) => {
    const listeners: Server[] = []
    let words = ''
    const letGo = (): void => {
      if (opener.connected) opener.disconnect()
      opener.stderr?.destroy()
    }
    const settle = (result: EgressListeners | ToolError): void => {
      clearTimeout(longest)
      resolve(result)
    }
    const fail = (why: string): void => {
      for (const listener of listeners) listener.close()
      letGo()
      opener.kill('SIGKILL')
      settle(toBubblewrapError(why))
    }
    const longest = setTimeout(
      () => fail(`it took more than ${START_TIMEOUT_MS / 1000} s`),
      START_TIMEOUT_MS,
    )
    opener.stderr
      ?.on('data', (chunk: Buffer) => {
        if (words.length < MAX_ERROR_CHARACTERS) words += chunk.toString()
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
    opener.on('message', ({ pid, problem }: OpenerMessage, listener) => {
      if (listener) listeners.push(listener as Server)
      else if (pid === undefined) fail(problem ?? 'the listeners could not be opened')
      else settle({ listeners, pid, release: letGo })
    })
  })
}

/** How long one address may be silent before the next is tried besides. */
const NEXT_ADDRESS_MS = 1000

type RelayTarget = {
  readonly host: string
  readonly port: number
  readonly find: FindServerAddresses
}
type ConnectFunction = typeof import('node:net').connect

/** A connection of a tool that is passed on. */
type EgressRelay = {
  /** Resolves when everything that the tool sent is passed on, or cannot be any more. */
  readonly sent: Promise<void>
  /** Resolves when both sides are closed. */
  readonly closed: Promise<unknown>
  /** Ends both sides at once. */
  destroy(): void
}

/**
 * Passes a connection of a tool on to its server, byte for byte: the end of one direction leaves
 * the other open, a slow reader slows the writer down, and a reset is passed on as one.
 */
function relayConnection(
  inner: Socket,
  { host, port, find }: RelayTarget,
  connect: ConnectFunction,
  tell: NonNullable<ToolProfile['onConnection']>,
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
    tell(compact({ host, port, address: outer.remoteAddress }))
    inner.pipe(outer)
    outer.pipe(inner)
  })
  outer.on('error', (error: NodeJS.ErrnoException) => {
    if (!isConnected) tell({ host, port, refused: error.message || error.code || 'no connection' })
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

// A socket that still connects would be reset only after it had connected.
function resetSocket(socket: Socket): void {
  if (socket.connecting) socket.destroy()
  else socket.resetAndDestroy()
}

/** Names that programs take for their own machine without asking anybody. */
const LOCALHOST_NAME = /(^|\.)localhost$|^127\.0\.0\.1$/
const LOOPBACK_ADDRESS = '127.0.0.1'
const ADDRESSES_PER_BLOCK = 250

/**
 * A server as the tool finds it: the address under which its name stands in the tool's own list of
 * names.
 */
type EgressServer = EgressGrant & { readonly address: string }

/** What each server is called inside, and the content of /etc/hosts that says so. */
export function assignAddresses(grants: readonly EgressGrant[]): {
  readonly servers: readonly EgressServer[]
  readonly hosts: string
} {
  const names = [...new Set(grants.map(({ host }) => host))].filter(
    (host) => !LOCALHOST_NAME.test(host),
  )
  const addressOf = (host: string): string =>
    LOCALHOST_NAME.test(host) ? LOOPBACK_ADDRESS : toLoopbackAddress(names.indexOf(host))
  const itself = [...new Set(grants.map(({ host }) => host))].filter(
    (host) => LOCALHOST_NAME.test(host) && host !== LOOPBACK_ADDRESS,
  )
  const servers = grants.map((grant): EgressServer => ({
    ...grant,
    address: addressOf(grant.host),
  }))
  return {
    // Two names of this machine are one server.
    servers: [
      ...new Map(servers.map((server) => [`${server.address}:${server.port}`, server])).values(),
    ],
    hosts: [
      ...[...new Set(['localhost', ...itself])].map((host) => `${LOOPBACK_ADDRESS} ${host}`),
      // Servers of this machine listen on the other of its addresses alone.
      ...(itself.includes('localhost') ? [] : ['::1 localhost']),
      ...names.map((host) => `${addressOf(host)} ${host}`),
      '',
    ].join('\n'),
  }
}

function toLoopbackAddress(index: number): string {
  return `127.77.${Math.floor(index / ADDRESSES_PER_BLOCK)}.${1 + (index % ADDRESSES_PER_BLOCK)}`
}
