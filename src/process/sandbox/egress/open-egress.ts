import type { Socket } from 'node:net'
import { ToolError } from '../../../contract/tool-error.ts'
import { findProgram } from '../../find-program.ts'
import type { EgressGrant } from '../../permissions/grants.ts'
import type { ToolProfile } from '../profile.ts'
import type { Identity } from '../tool/identity.ts'
import type { NetworkHold } from '../tool/network-hold.ts'
import { OF_SYSTEM } from '../tool/programs.ts'
import type { SandboxPrograms } from '../tool/programs.ts'
import { noSandbox } from '../why-not.ts'
import { pinAddresses } from './find-addresses.ts'
import { nameServers } from './inner-names.ts'
import { openListeners } from './listeners.ts'
import type { Relay } from './relay.ts'
import { relay } from './relay.ts'

/** Connections that one tool may have at the same time, because each of them takes two of our descriptors. */
const MOST_CONNECTIONS = 512
/** How long what a tool sent last may take to leave after the tool is over. */
const LAST_WORDS = 1000

/** Lets a tool talk to exactly these servers: in a network of its own their names lead to listeners of ours, and each connection is passed on to the server of that name and port alone. */
export async function openEgress(
  grants: readonly EgressGrant[],
  programs: SandboxPrograms,
  who: Identity,
  onConnection: ToolProfile['onConnection'] = () => {},
): Promise<NetworkHold | ToolError> {
  const nsenter = findProgram('nsenter', OF_SYSTEM)
  if (nsenter === undefined)
    return noSandbox('nsenter is not installed', 'sudo apt-get install util-linux')
  const { connect } = await import('node:net')
  const { servers, hosts } = nameServers(grants)
  const opened = await openListeners(servers, programs, who)
  if (opened instanceof ToolError) return opened
  const relays = new Set<Relay>()
  opened.listeners.forEach((listener, index) => {
    const { host, port } = servers[index]!
    const find = pinAddresses(servers[index]!)
    listener
      .on('error', () => {})
      .on('connection', (inner: Socket) => {
        if (relays.size >= MOST_CONNECTIONS) {
          inner.on('error', () => {}).resetAndDestroy()
          return onConnection({
            host,
            port,
            refused: `the tool has ${MOST_CONNECTIONS} connections already`,
          })
        }
        const one = relay(inner, { host, port, find }, connect, onConnection)
        relays.add(one)
        void one.over.then(() => relays.delete(one))
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
    entered: opened.letGo,
    release: async (hasEndedWell) => {
      opened.letGo()
      if (hasEndedWell) await passLastWords(relays)
      for (const listener of opened.listeners) listener.close()
      for (const one of relays) one.cut()
    },
  }
}

async function passLastWords(relays: ReadonlySet<Relay>): Promise<void> {
  // Connections that wait in a queue are taken in the next turn.
  await new Promise((resolve) => setImmediate(resolve))
  let longest: NodeJS.Timeout | undefined
  const enough = new Promise((resolve) => {
    longest = setTimeout(resolve, LAST_WORDS)
  })
  await Promise.race([Promise.all([...relays].map(({ sent }) => sent)), enough])
  clearTimeout(longest)
}
