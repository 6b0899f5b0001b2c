import { ToolError } from '../../contract/tool-error.ts'
import { isLoopback, LOOPBACK_HOSTS } from './guards.ts'
import type { Guards } from './guards.ts'

/** Who may ask, as an operator says it. */
export type GuardOptions = {
  readonly token?: string
  /** Names for the Host header: `tools.example.com`, or with a port. */
  readonly allowedHosts?: readonly string[]
  /** Origins of pages: `https://app.example.com`. */
  readonly allowedOrigins?: readonly string[]
}

/** The guards of a server that binds `host`: loopback names only on loopback, a token beyond it. Throws CONFIG where the token is missing. */
export async function serverGuards(host: string, options: GuardOptions): Promise<Guards> {
  const loopback = isLoopback(host)
  if (!loopback && options.token === undefined) {
    throw new ToolError('CONFIG', `${host} can be reached from other machines, so the server needs a token`, { field: 'token-file', suggestion: { fix: 'Write a token to a file that only you can read and name it, or bind 127.0.0.1', example: 'openssl rand -hex 32 > token.txt && chmod 600 token.txt  # then --token-file token.txt' } })
  }
  const guards = await mountedGuards(options)
  // Beyond loopback the token keeps pages of strangers out, whatever name they gave our address.
  if (!loopback && !guards.hosts) return guards
  return { ...guards, hosts: [...LOOPBACK_HOSTS, ...(loopback ? [bracketed(host)] : []), ...(guards.hosts ?? [])] }
}

/** The guards of a handler in somebody else's server: Host is checked only where names are given. */
export async function mountedGuards({ token, allowedHosts, allowedOrigins }: GuardOptions): Promise<Guards> {
  if (token !== undefined && !/^\S+$/.test(token)) throw new ToolError('CONFIG', `the token is ${token.trim() === '' ? 'empty' : 'no token: it has white space in it'}`, { field: 'token', suggestion: { fix: 'Take a long random word', example: 'openssl rand -hex 32' } })
  return {
    ...(token !== undefined && { isToken: (await import('./token.ts')).tokenMatcher(token) }),
    ...(allowedHosts && { hosts: allowedHosts.map(checkHost) }),
    ...(allowedOrigins && { origins: allowedOrigins.map(checkOrigin) }),
  }
}

function checkHost(given: string): string {
  const host = given.toLowerCase()
  if (/^(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?$/.test(host)) return host
  throw new ToolError('CONFIG', `'${given}' is no name for the Host header`, { field: 'allowed-host', suggestion: { fix: 'Give the name alone, or with its port', example: 'tools.example.com' } })
}

function checkOrigin(given: string): string {
  if (given === '*' || /^https?:\/\/[^/?#\s]+$/i.test(given)) return given
  throw new ToolError('CONFIG', `'${given}' is no origin`, { field: 'allowed-origin', suggestion: { fix: 'Give scheme and host, without a path', example: 'https://app.example.com' } })
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host.toLowerCase()}]` : host.toLowerCase()
}
