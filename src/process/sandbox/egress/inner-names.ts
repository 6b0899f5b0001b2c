import type { EgressGrant } from '../../permissions/grants.ts'

/** Names that programs take for their own machine without asking anybody. */
const ITSELF = /(^|\.)localhost$|^127\.0\.0\.1$/
const OWN_ADDRESS = '127.0.0.1'
const PER_BLOCK = 250

/** A server as the tool finds it: the address under which its name stands in the tool's own list of names. */
export type InnerServer = EgressGrant & { readonly address: string }

/** What each server is called inside, and the content of /etc/hosts that says so. */
export function nameServers(grants: readonly EgressGrant[]): {
  readonly servers: readonly InnerServer[]
  readonly hosts: string
} {
  const names = [...new Set(grants.map(({ host }) => host))].filter((host) => !ITSELF.test(host))
  const addressOf = (host: string): string =>
    ITSELF.test(host) ? OWN_ADDRESS : innerAddress(names.indexOf(host))
  const itself = [...new Set(grants.map(({ host }) => host))].filter(
    (host) => ITSELF.test(host) && host !== OWN_ADDRESS,
  )
  const servers = grants.map((grant): InnerServer => ({ ...grant, address: addressOf(grant.host) }))
  return {
    // Two names of this machine are one server.
    servers: [
      ...new Map(servers.map((server) => [`${server.address}:${server.port}`, server])).values(),
    ],
    hosts: [
      ...[...new Set(['localhost', ...itself])].map((host) => `${OWN_ADDRESS} ${host}`),
      // Servers of this machine listen on the other of its addresses alone.
      ...(itself.includes('localhost') ? [] : ['::1 localhost']),
      ...names.map((host) => `${addressOf(host)} ${host}`),
      '',
    ].join('\n'),
  }
}

function innerAddress(index: number): string {
  return `127.77.${Math.floor(index / PER_BLOCK)}.${1 + (index % PER_BLOCK)}`
}
