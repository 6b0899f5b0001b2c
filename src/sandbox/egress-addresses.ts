/**
 * Resolves granted host names once and refuses addresses of this machine, of cloud metadata
 * services and of link-local networks.
 */

import type { LookupAddress } from 'node:dns'
import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { EgressGrant } from '../process/grants.ts'
import { once } from '../util/values.ts'

/** Looks up the addresses of a name. */
type ResolveHost = (host: string) => Promise<readonly LookupAddress[]>

/**
 * Finds the addresses of one server, at the first connection. They are kept, so that a name cannot
 * resolve to one address when it is checked and to another when it is used.
 */
export type FindServerAddresses = () => Promise<readonly LookupAddress[]>

const LOOPBACK_ADDRESSES: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** Resolves the name of a granted server once. Rejects for names without an allowed address. */
export function pinAddresses(
  { host, local }: EgressGrant,
  ask: ResolveHost = resolveWithSystem,
): FindServerAddresses {
  let pinned: Promise<readonly LookupAddress[]> | undefined
  return () => {
    // Names of this machine are not looked up, because the answer could redirect them.
    pinned ??= local ? Promise.resolve(LOOPBACK_ADDRESSES) : resolveAllowed(host, ask)
    pinned.catch(() => {
      pinned = undefined
    })
    return pinned
  }
}

async function resolveAllowed(host: string, ask: ResolveHost): Promise<readonly LookupAddress[]> {
  const found = await ask(host)
  const allowed = found.filter(({ address }) => findForbiddenReason(address) === undefined)
  if (allowed.length > 0) return allowed
  const [first] = found
  throw new Error(
    first
      ? `${host} leads to ${first.address}, which ${findForbiddenReason(first.address)}`
      : `${host} has no address`,
  )
}

async function resolveWithSystem(host: string): Promise<readonly LookupAddress[]> {
  const { lookup } = await import('node:dns/promises')
  return lookup(host, { all: true })
}

type AddressRange = readonly [address: string, bits: number]

/** Addresses that no server name may resolve to, by their description. */
const FORBIDDEN_RANGES: {
  readonly [what: string]: {
    readonly ipv4: readonly AddressRange[]
    readonly ipv6: readonly AddressRange[]
  }
} = {
  // Metadata services of clouds; most are link-local.
  'tells secrets of the machine': {
    ipv4: [
      ['169.254.169.254', 32],
      ['169.254.170.2', 32],
      ['100.100.100.200', 32],
      ['192.0.0.192', 32],
      ['168.63.129.16', 32],
    ],
    ipv6: [
      ['fd00:ec2::254', 128],
      ['fd20:ce::254', 128],
    ],
  },
  'is this machine': {
    ipv4: [
      ['127.0.0.0', 8],
      ['0.0.0.0', 8],
    ],
    ipv6: [
      ['::1', 128],
      ['::', 128],
    ],
  },
  'is link-local': { ipv4: [['169.254.0.0', 16]], ipv6: [['fe80::', 10]] },
  'is no single server': { ipv4: [['224.0.0.0', 3]], ipv6: [['ff00::', 8]] },
}

/** IPv4 inside IPv6: as sockets show it, and as NAT64 uses it. */
const IPV4_IN_IPV6_PREFIXES = ['::ffff:', '64:ff9b::', '64:ff9b:1::', '::']
const IPV4_IN_IPV6_BITS = 96

const listBlocked = once(() =>
  Object.entries(FORBIDDEN_RANGES).map(
    ([what, { ipv4, ipv6 }]) => [what, toBlockList(ipv4, ipv6)] as const,
  ),
)

/** Returns why a tool may not connect to an address, although its name was granted. */
export function findForbiddenReason(address: string): string | undefined {
  const plain = address.replace(/%.*$/, '')
  if (isIP(plain) === 0) return 'is no address'
  const family = isIP(plain) === 4 ? 'ipv4' : 'ipv6'
  return (
    listBlocked().find(([, list]) => list.check(plain, family))?.[0] ??
    (listOwnAddresses().includes(plain) ? 'is this machine' : undefined)
  )
}

function toBlockList(ipv4: readonly AddressRange[], ipv6: readonly AddressRange[]): BlockList {
  const list = new BlockList()
  for (const [address, bits] of ipv4) {
    list.addSubnet(address, bits, 'ipv4')
    for (const carrier of IPV4_IN_IPV6_PREFIXES)
      list.addSubnet(`${carrier}${address}`, IPV4_IN_IPV6_BITS + bits, 'ipv6')
  }
  for (const [address, bits] of ipv6) list.addSubnet(address, bits, 'ipv6')
  return list
}

function listOwnAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((each) =>
    (each ?? []).map(({ address }) => address),
  )
}
