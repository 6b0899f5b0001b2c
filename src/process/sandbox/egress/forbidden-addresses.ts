import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'

type Range = readonly [address: string, bits: number]

/** What no name of a server may lead to, by what it is. */
const FORBIDDEN: {
  readonly [what: string]: { readonly ipv4: readonly Range[]; readonly ipv6: readonly Range[] }
} = {
  // Clouds tell secrets of the machine there; the link-local range holds most of them.
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

/** IPv4 inside IPv6: as sockets show it, and as translators of networks take it. */
const CARRIERS = ['::ffff:', '64:ff9b::', '64:ff9b:1::', '::']
const CARRIED_AT = 96

let lists: readonly (readonly [what: string, list: BlockList])[] | undefined

/** Why a tool may not be let to an address, though it stands for a name that was granted; undefined where it may. */
export function whyForbidden(address: string): string | undefined {
  lists ??= Object.entries(FORBIDDEN).map(
    ([what, { ipv4, ipv6 }]) => [what, listOf(ipv4, ipv6)] as const,
  )
  const plain = address.replace(/%.*$/, '')
  const family = isIPv4(plain) ? 'ipv4' : isIPv6(plain) ? 'ipv6' : undefined
  if (family === undefined) return 'is no address'
  return (
    lists.find(([, list]) => list.check(plain, family))?.[0] ??
    (ownAddresses().includes(plain) ? 'is this machine' : undefined)
  )
}

function listOf(ipv4: readonly Range[], ipv6: readonly Range[]): BlockList {
  const list = new BlockList()
  for (const [address, bits] of ipv4) {
    list.addSubnet(address, bits, 'ipv4')
    for (const carrier of CARRIERS)
      list.addSubnet(`${carrier}${address}`, CARRIED_AT + bits, 'ipv6')
  }
  for (const [address, bits] of ipv6) list.addSubnet(address, bits, 'ipv6')
  return list
}

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((each) =>
    (each ?? []).map(({ address }) => address),
  )
}
