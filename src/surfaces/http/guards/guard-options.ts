import { ToolError } from '../../../contract/tool-error.ts'
import { checkHost, checkOrigin, checkToken } from '../check-options.ts'
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
    throw new ToolError(
      'CONFIG',
      `${host} can be reached from other machines, so the server needs a token`,
      {
        field: 'token-file',
        suggestion: {
          fix: 'Write a token to a file that only you can read and start with --token-file token.txt, or bind 127.0.0.1',
          example: '(umask 077; openssl rand -hex 32 > token.txt)',
        },
      },
    )
  }
  const guards = await mountedGuards(options)
  // Beyond loopback the token keeps pages of strangers out, whatever name they gave our address.
  if (!loopback && !guards.hosts) return guards
  return {
    ...guards,
    hosts: [
      ...new Set([
        ...LOOPBACK_HOSTS,
        ...(loopback ? [bracketed(host)] : []),
        ...(guards.hosts ?? []),
      ]),
    ],
  }
}

/** The guards of a handler in somebody else's server: Host is checked only where names are given. */
export async function mountedGuards({
  token,
  allowedHosts,
  allowedOrigins,
}: GuardOptions): Promise<Guards> {
  return {
    ...(token !== undefined && {
      isToken: (await import('./token.ts')).tokenMatcher(checkToken(token)),
    }),
    ...(allowedHosts && { hosts: allowedHosts.map(checkHost) }),
    ...(allowedOrigins && { origins: allowedOrigins.map(checkOrigin) }),
  }
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[')
    ? `[${host.toLowerCase()}]`
    : host.toLowerCase()
}
