import type { LookupAddress } from 'node:dns'
import type { EgressGrant } from '../../permissions/grants.ts'
import { whyForbidden } from './forbidden-addresses.ts'

/** Asks the system for the addresses of a name. */
export type AskNames = (host: string) => Promise<readonly LookupAddress[]>

/** Finds the addresses of one server: asked for at the first connection and kept from then on, so that a name cannot mean one thing when it is judged and another when it is dialled. */
export type FindAddresses = () => Promise<readonly LookupAddress[]>

const THIS_MACHINE: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** The addresses of a server that was granted. Rejects where its name leads nowhere, or to where only names of this machine may lead. `ask` is the system unless a test answers. */
export function pinAddresses(
  { host, local }: EgressGrant,
  ask: AskNames = askSystem,
): FindAddresses {
  let pinned: Promise<readonly LookupAddress[]> | undefined
  return () => {
    // Names of this machine are never asked for, because whoever answers could lead them elsewhere.
    pinned ??= local ? Promise.resolve(THIS_MACHINE) : judge(host, ask)
    pinned.catch(() => {
      pinned = undefined
    })
    return pinned
  }
}

async function judge(host: string, ask: AskNames): Promise<readonly LookupAddress[]> {
  const found = await ask(host)
  const judged = found.map(({ address, family }) => ({
    address,
    family,
    why: whyForbidden(address),
  }))
  const allowed = judged.filter(({ why }) => why === undefined)
  if (allowed.length > 0) return allowed.map(({ address, family }) => ({ address, family }))
  const [first] = judged
  throw new Error(
    first ? `${host} leads to ${first.address}, which ${first.why}` : `${host} has no address`,
  )
}

async function askSystem(host: string): Promise<readonly LookupAddress[]> {
  const { lookup } = await import('node:dns/promises')
  return lookup(host, { all: true })
}
